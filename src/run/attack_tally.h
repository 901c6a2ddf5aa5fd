// What an observer who sees all clients can say of an attack: what hostile senders got of the others' merges,
// how far honest clients were pushed, and what is left of their accuracy. Sums run in the order of the
// clients.
#pragma once

#include <span>
#include <vector>

#include "dfrost/measure.h"
#include "records/record.h"
#include "run/node.h"
#include "run/node_report.h"
#include "run/poisoned_samples.h"
#include "train/evaluate.h"

namespace dfrost {

// Those of the clients that are not hostile.
std::vector<std::size_t> honest_among(std::span<const std::size_t> clients, const std::vector<bool>& hostile);

// Who is hostile, and what they got of the mass in the merges of all others.
AttackRecord tally_attack(std::span<const NodeReport> reports, const std::vector<bool>& hostile);

// Mean W₂² of honest clients' prompts, as they are, to the barycenter of what honest clients had before their
// last merge.
double distance_from_honest(std::span<const Node> clients, const std::vector<bool>& hostile,
                            const ConsensusOptions& options);

// `scores`: of the clients `chosen`, in their order; nothing where all of these are hostile.
std::optional<AttackRecord::Scores> honest_scores(const std::vector<std::size_t>& chosen,
                                                  const std::vector<bool>& hostile,
                                                  std::span<const Evaluation> scores);

// Those of the samples that are not of the class that a mark stands for anyway.
std::vector<std::size_t> pictures_of_others(const SampleSource& pictures, const MarkedPictures& marked,
                                            std::span<const std::size_t> samples);

}  // namespace dfrost
