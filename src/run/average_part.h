// Weighted averages of one part of nodes' states, summed in double in the order of the senders.
#pragma once

#include <span>
#include <string_view>

#include "run/inbox.h"

namespace dfrost {

// own ← self_weight·own + Σ weights[s]·theirs[s], for the tensor `name` of every message.
void average_part(std::string_view name, std::span<const Message> messages, std::span<const double> weights,
                  double self_weight, std::span<float> own);

}  // namespace dfrost
