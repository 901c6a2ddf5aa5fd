// The words for the merge's choices, as flags, config files and reports spell them; those
// of its kinds are in merge/merge_kinds.h.
#pragma once

#include "base/choice.h"
#include "dfrost/merge.h"
#include "merge/merge_metric.h"

namespace dfrost {

inline constexpr Choice<MergeInit> kMergeInits[] = {
    {MergeInit::own, "own"}, {MergeInit::previous, "previous"}, {MergeInit::kmeans_plus_plus, "kmeans++"}};

inline constexpr Choice<DeadPrompts> kDeadPrompts[] = {
    {DeadPrompts::paper, "paper"}, {DeadPrompts::keep, "keep"}, {DeadPrompts::reseed, "reseed"}};

inline constexpr Choice<Shrink> kShrinks[] = {{Shrink::paper, "paper"}, {Shrink::off, "off"}};

inline constexpr Choice<MergeMetric> kMergeMetrics[] = {{MergeMetric::embedding, "embedding"},
                                                        {MergeMetric::first_block, "first-block"}};

inline constexpr Choice<MergeForm> kMergeForms[] = {
    {MergeForm::automatic, "auto"}, {MergeForm::gram, "gram"}, {MergeForm::direct, "direct"}};

}  // namespace dfrost
