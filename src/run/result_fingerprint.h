// A short name for what decides a run's values: two runs with the same one compute the same, so that one may
// go on from the other's checkpoint. Backbone, pictures and how they are prepared, partition and a listed
// network count by their content, wherever their files lie; what changes no result (threads, number of
// rounds, scoring) does not count.
#pragma once

#include <optional>
#include <string>

#include "config/config.h"
#include "data/corpus.h"
#include "data/preprocess.h"
#include "network/topology.h"
#include "partition/partition.h"
#include "train/head_frame.h"

namespace dfrost {

// What counts of the data and who holds it.
struct DealtPictures {
  const Corpus& corpus;
  const Partition& partition;
  const Topology& topology;
};

// `weights`: the backbone's weights_fingerprint(). `precision`: the one that is really used. `frame`:
// Method::frame.
std::string result_fingerprint(const RunConfig& config, const std::string& weights, Precision precision,
                               const Preprocessing& preprocessing, const DealtPictures& dealt,
                               const std::optional<FrameParts>& frame = std::nullopt);

}  // namespace dfrost
