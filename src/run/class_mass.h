// Class-mass merging of heads: every row of the last layer, one per class, carries a mass, how many pictures
// of that class stand behind it, and is merged by mixing weight × mass; the mass is mixed beside it. Ratio
// consensus, class by class: mixing conserves the mass of a class over the network, and without training all
// rows come to the mean that is weighted by pictures. What a neighbour learns is how many pictures of each
// class stand behind a client's rows, its own and what came from others together.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "merge/robust_mean.h"
#include "network/message.h"
#include "run/inbox.h"
#include "run/node.h"
#include "train/sample_source.h"

namespace dfrost {

// In the memory, [classes]; travels with the state.
inline constexpr std::string_view kMass = "head.mass";

// Before letters are written: its own pictures, or what is left of the mass it has, whichever is more.
// `samples` may be null. The same at every call but for the decay.
void refresh_mass(Node& node, const SampleSource* samples, const MassOptions& options, Seed seed);

// What prompt sets weigh with SenderWeights::mass, the node's own first: mixing weight times the pictures of
// all classes that stand behind a sender, as far as it is believed. They sum to one. Where nobody has any,
// the mixing weights.
std::vector<double> weights_by_mass(const Node& node, const Inbox& inbox, const MergeSection& options);

TensorPattern mass_pattern(const Node& node);

// Whether a part of the state has one row, or one value, for each class.
bool has_class_rows(const Node& node, std::string_view part);

// Merges these parts and the mass; `mean`: what is made of the rows of a class. Of a class that nobody has
// mass of, rows weigh as in the mixing matrix.
void merge_class_rows(Node& node, const Inbox& inbox, const MassOptions& options,
                      const RobustMeanOptions& mean = {});

// The same parts of `mean` over all clients, each weighing as its mass does.
void average_class_rows(std::span<const Node> clients, const MassOptions& options, Node& mean);

}  // namespace dfrost
