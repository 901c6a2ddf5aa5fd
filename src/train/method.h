// The local half of the named methods, as a table: how a client trains between two merges, and from how large
// a pool its images choose. Each is only a preset of settings that combine freely; the merges are the other
// half.
#pragma once

#include <span>
#include <string_view>

#include "train/adapter.h"
#include "train/local_update.h"

namespace dfrost {

struct LocalMethod {
  std::string_view name;
  TrainOptions train;
  PromptOptions prompts;
};

// dfrost, d-psgd, dfedavgm, dfedsam, and each with a "+": a pool of 20 prompts of which an image uses 10.
std::span<const LocalMethod> local_methods();

// Throws (invalid_argument, with the nearest name as a hint) for an unknown name.
const LocalMethod& local_method(std::string_view name);

}  // namespace dfrost
