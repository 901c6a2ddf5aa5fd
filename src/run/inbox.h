// What arrived at a node in one phase, checked; in the order of its neighbours.
#pragma once

#include <vector>

#include "network/exchange.h"
#include "network/message.h"
#include "run/node.h"
#include "run/node_report.h"
#include "run/round_plan.h"

namespace dfrost {

class Phase;

struct Inbox {
  std::vector<Message> messages;
  std::vector<double> weights;  // of each message's sender, in the mixing matrix
  double self_weight = 1;       // and the node's own, with that of whoever is missing
  struct Absent {
    ClientId sender = 0;
    Absence why = Absence::deadline;
  };
  std::vector<Absent> missing;
  struct Refused : Refusal {
    ClientId sender = 0;  // whose letter it was to be
  };
  std::vector<Refused> refused;
};

// Waits for the letters of all neighbours that speak in the phase, at most until the deadline.
Inbox receive_letters(const Node& node, const Phase& phase, const RoundPlan& plan, const Envelope& envelope,
                      Exchange::Deadline deadline, Exchange& exchange);

// Whose letters they are, for the record.
PhaseArrivals arrivals_of(const Inbox& inbox);

}  // namespace dfrost
