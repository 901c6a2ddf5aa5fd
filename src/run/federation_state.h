// All there is to save of a federation beside its round, as flat lists in the order of the clients: random
// streams are named by the round, and the network model follows from the clients.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "run/client_round.h"

namespace dfrost {

struct FederationState {
  std::vector<float> values;  // trained, of all clients
  // What optimizers keep from round to round (train.optimizer_state); empty where they start fresh.
  std::vector<std::uint64_t> optimizer_steps;  // of each client
  std::vector<float> optimizer_values;  // of each client that has taken any: its first, then its second

  bool operator==(const FederationState&) const = default;
};

FederationState gather_state(std::span<const Client> clients, OptimizerMemory memory);

// Throws (data_loss) when it is not the state of clients such as these, which are then unchanged.
void scatter_state(const FederationState& state, const TrainOptions& options, std::span<Client> clients);

}  // namespace dfrost
