#include "run/inbox.h"

#include <string>
#include <utility>

#include "run/phase.h"

namespace dfrost {

Inbox receive_letters(const Node& node, const Phase& phase, const RoundPlan& plan, const Envelope& envelope,
                      Exchange::Deadline deadline, Exchange& exchange) {
  Inbox inbox;
  inbox.self_weight = plan.mixing.self_weight(node.id);
  const auto neighbours = plan.mixing.graph().neighbours(node.id);
  const auto weights = plan.mixing.neighbour_weights(node.id);
  std::vector<ClientId> senders;
  std::vector<double> sender_weights;
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    if (!phase.speaks(plan.role_of(neighbours[i]))) continue;
    senders.push_back(neighbours[i]);
    sender_weights.push_back(weights[i]);
  }
  if (senders.empty()) return inbox;
  ExpectedMessage expected{envelope, phase.expected(node)};
  const auto received = exchange.receive(senders, deadline);
  for (std::size_t i = 0; i < received.size(); ++i) {
    expected.envelope.sender = received[i].sender;
    if (received[i].arrived()) {
      auto decoded = decode_message(*received[i].message, expected);
      if (auto* message = std::get_if<Message>(&decoded)) {
        inbox.messages.push_back(std::move(*message));
        inbox.weights.push_back(sender_weights[i]);
        continue;
      }
      inbox.refused.push_back({std::get<Refusal>(std::move(decoded)), received[i].sender});
    } else {
      inbox.missing.push_back({received[i].sender, received[i].absence});
    }
    inbox.self_weight += sender_weights[i];  // rows of the mixing matrix must still sum to one
  }
  return inbox;
}

PhaseArrivals arrivals_of(const Inbox& inbox) {
  PhaseArrivals arrivals;
  for (const auto& message : inbox.messages) arrivals.arrived.push_back(message.sender());
  for (const auto& absent : inbox.missing)
    arrivals.missing.push_back({absent.sender, std::string(to_string(absent.why))});
  for (const auto& refused : inbox.refused) arrivals.missing.push_back({refused.sender, refused.text});
  return arrivals;
}

}  // namespace dfrost
