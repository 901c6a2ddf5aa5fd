// The methods, one row each: what method.name stands for. A row is a preset of settings that combine freely:
// how a client trains, from how large a pool its images choose, what a round is made of, who talks to whom,
// and how prompts are merged. Keys that a file gives win over it, wherever they stand.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace dfrost {

struct MethodPreset {
  std::string name;
  std::string title;  // as the paper writes it, where it is the paper's
  std::string summary;
  TrainOptions train;
  PromptOptions prompts;
  MergeKind merge = MergeKind::ot;
  RoundKind round = RoundKind::update;
  Cooperation cooperation = Cooperation::peers;
  HeadMerge head_merge = HeadMerge::average;
  HeadKind head = HeadKind::linear;
  PoolMergeOptions pool = {};
  std::vector<std::size_t> hidden = HeadOptions{}.hidden;
};

// dfrost, d-psgd, dfedavgm, dfedsam, each also with a "+"; dgd, d2; local and central; fedavg-pt, fedprompt;
// dfedavg, pass-on; pfpt, pfpt-decentralized; ntk-dfl, ntk-head; dfrost-plus, which is ours.
std::span<const MethodPreset> method_presets();

// Throws (invalid_argument, with the nearest name as a hint) for an unknown name.
const MethodPreset& method_preset(std::string_view name);
void apply_method(RunConfig& config, std::string_view name);

}  // namespace dfrost
