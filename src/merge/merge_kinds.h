// The kinds of merge, one row each: what it is called, what it can do, and the function that does it. Whoever
// asks whether a kind needs sets of one size, or whether keys follow its plan, asks this table; settings,
// help and reference pages list what stands in it. A new kind is a value of MergeKind, a row here and a file
// of its own.
#pragma once

#include "base/choice.h"
#include "dfrost/merge.h"
#include "merge/neighbourhood.h"
#include "merge/ot_merge.h"

namespace dfrost {

using MergeFunction = MergedPrompts (*)(const Neighbourhood& all, const MergeInput& input,
                                        std::size_t prompts, const MergeOptions& options);

MergedPrompts average_merge(const Neighbourhood& all, const MergeInput& input, std::size_t prompts,
                            const MergeOptions& options);
MergedPrompts barycenter_merge(const Neighbourhood& all, const MergeInput& input, std::size_t prompts,
                               const MergeOptions& options);

struct MergeKindRow {
  MergeKind value;
  std::string_view word;
  std::string_view meaning;  // for people, after the word and a colon
  MergeFunction merge;
  bool needs_equal_sizes = false;     // prompt i must have a counterpart in every set
  bool needs_mixing_weights = false;  // senders never weigh alike
  bool transports = false;            // mass moves between indices, and what belongs to a prompt moves along
  bool has_theorem = false;           // Theorem 1 bounds its steps
  bool has_free_mass = false;         // that MergeOptions::trim may leave out, and median soften
  bool gathers_previous = false;      // with MergeInit::previous those prompts are rows that it works on
};

inline constexpr MergeKindRow kMergeKinds[] = {
    {.value = MergeKind::ot,
     .word = "ot",
     .meaning = "D-FROST's merge by entropic optimal transport",
     .merge = [](const Neighbourhood& all, const MergeInput&, std::size_t prompts,
                 const MergeOptions& options) { return ot_merge(all, prompts, options); },
     .transports = true,
     .has_theorem = true,
     .has_free_mass = true,
     .gathers_previous = true},
    {.value = MergeKind::average,
     .word = "average",
     .meaning = "by index, weighted by the mixing matrix",
     .merge = average_merge,
     .needs_equal_sizes = true,
     .needs_mixing_weights = true},
    {.value = MergeKind::barycenter,
     .word = "barycenter",
     .meaning = "exact and balanced optimal transport",
     .merge = barycenter_merge,
     .transports = true},
};

inline const MergeKindRow& traits_of(MergeKind kind) { return row_of(kMergeKinds, kind); }

}  // namespace dfrost
