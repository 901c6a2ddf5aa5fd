// From what every client reports of a round to the figures of its record. Sums run in the order of the
// clients, so that no figure depends on threads.
#pragma once

#include <cstddef>
#include <span>

#include "network/faults.h"
#include "records/record.h"
#include "run/client_round.h"

namespace dfrost {

// What one client saw of the exchange and did with it.
struct ExchangeReport {
  MergeReport merge = {};
  std::size_t refused = 0, missing = 0;  // messages
  double exchange_seconds = 0;
};

void tally_network(const RoundNetwork& network, RoundRecord& record);

void tally_training(std::span<const TrainReport> reports, RoundRecord& record);

// `wall_seconds`: what all clients together took. They received, merged and measured side by side, so it is
// split among these stages by the seconds that each took on its thread. Views of merges move into the record.
void tally_exchange(std::span<ExchangeReport> reports, double wall_seconds, RoundRecord& record);

TheoryRecord tally_theory(std::span<const ExchangeReport> reports);

}  // namespace dfrost
