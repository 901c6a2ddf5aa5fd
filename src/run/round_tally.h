// From what every client reports of a round to the figures of its record. Sums run in the order of the
// clients, so that no figure depends on threads.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "network/faults.h"
#include "records/record.h"
#include "run/node.h"
#include "run/node_report.h"
#include "run/round.h"
#include "run/round_plan.h"

namespace dfrost {

void tally_network(const RoundNetwork& network, RoundRecord& record);

// The mixing factors, and the time that it took to find them.
void tally_mixing(const RoundPlan& plan, RoundRecord& record);

// What the residents report of training, exchange and merges, and the time of each stage.
void tally_round(RoundOutcome& outcome, RoundRecord& record);

void tally_training(std::span<const NodeReport> reports, RoundRecord& record);

// `wall_seconds`: what all clients together took. They received, merged and measured side by side, so it is
// split among these stages by the seconds that each took on its thread. Views of merges move into the record.
void tally_exchange(std::span<NodeReport> reports, double wall_seconds, RoundRecord& record);

// Whom the residents' merges doubted.
DefenceRecord tally_defence(std::span<const NodeReport> reports);
// Nothing where nobody took a step along a kernel.
std::optional<KernelRecord> tally_kernels(std::span<const NodeReport> reports);

TheoryRecord tally_theory(std::span<const NodeReport> reports);

// ε of every client's account.
PrivacyRecord tally_privacy(std::span<const Node> clients, double delta);

// How the mass of each class lies over the clients; classes that nobody has are left out of the spread.
ClassMassRecord tally_class_mass(std::span<const Node> clients);

}  // namespace dfrost
