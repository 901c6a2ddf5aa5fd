// How a node's state becomes one with those of its neighbours: what most phases send and absorb.
#pragma once

#include <vector>

#include "config/config.h"
#include "network/message.h"
#include "run/inbox.h"
#include "run/node.h"
#include "run/node_report.h"
#include "run/phase.h"

namespace dfrost {

// In the draft: the prompts that the round began with, which MergeInit::previous starts from.
inline constexpr std::string_view kPromptsBefore = "prompts before";
// Where the merge may look at them.
void note_prompts_before(Node& node, const MergeSection& options);

// In the memory: the state of before the last merge, which training had borne out. Where it diverges from
// what a merge made, what came from others may be why: the client goes back to what it had before it took it
// in. Nothing is kept of a round without a merge, since then the state itself is that.
inline constexpr std::string_view kLastGood = "last good state";
void keep_last_good(Node& node, const Inbox& inbox);
// `before`: what the round began with, where there is nothing further back.
void return_to_last_good(Node& node, std::vector<float> before);

// MergeInput::metric for prompts of this width: that of the backbone, or none.
MatrixView<const float> metric_of(const MergeSection& options, std::size_t width);

// The whole state, to all neighbours, with the mass of its classes where the node has one.
std::vector<Letter> letters_of_state(const Node& node, const RoundPlan& plan);
// A state such as the node's own, with the mass of its classes where that is what heads are merged by; only
// the number of prompts may be another.
std::vector<TensorPattern> patterns_of_state(const Node& node, HeadMerge head = HeadMerge::average);

// Prompts by merge.kind, and with transport or by mass their separate keys the same way; everything else by
// the mixing weights, not at all with HeadMerge::own, or class by class with HeadMerge::class_mass. A view,
// where the plan asks for one, changes no result.
MergeOutcome merge_states(Node& node, const Inbox& inbox, const MergeSection& options, Seed seed,
                          const RoundPlan& plan);

}  // namespace dfrost
