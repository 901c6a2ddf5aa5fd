// From clients to what a savepoint holds of them, and back.
#pragma once

#include <span>

#include "records/savepoint_file.h"
#include "run/client_round.h"

namespace dfrost {

FederationState gather_state(std::span<const Client> clients, OptimizerMemory memory);

// Throws (data_loss) when it is not the state of clients such as these, which are then unchanged.
void scatter_state(const FederationState& state, const TrainOptions& options, std::span<Client> clients);

}  // namespace dfrost
