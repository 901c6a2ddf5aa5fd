// Coordinates of heads that come with the backbone (train.head_moments = "backbone"): moments of its features
// over generic pictures, taken once, by whoever has such pictures, and read by every client from beside the
// weights. Nothing is exchanged for them, and they tell nothing of anybody's pictures. And the metric of
// prompts that comes with it (merge.metric = "first-block").
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backbone/checkpoint.h"
#include "backbone/moments_file.h"
#include "base/thread_pool.h"
#include "config/config.h"
#include "dfrost/backbone.h"
#include "train/head_frame.h"

namespace dfrost {

// Nothing where the settings do not ask for it. `path`: the backbone's file or folder; `weights`: its
// weights_fingerprint(). Throws where the moments are not there, or do not fit.
std::optional<FrameParts> backbone_frame(const RunConfig& config, const std::filesystem::path& path,
                                         const Checkpoint& checkpoint, const std::string& weights);

// What merges of prompts take distances by, from the backbone's weights; nothing where the settings do not
// ask for it.
std::shared_ptr<const std::vector<float>> backbone_metric(const RunConfig& config,
                                                          const Checkpoint& checkpoint);

// Sums over pictures of what a linear head reads, without prompts. The order in which pictures come, and how
// many at a time, decides the bytes; the number of threads does not.
class FeatureSums {
 public:
  explicit FeatureSums(const Backbone& backbone);

  // pixels [images·patches, 3·patch²], as Backbone::embed() takes them.
  void add(MatrixView<const float> pixels, ThreadPool& threads);
  FeatureMoments moments() const;

 private:
  const Backbone& backbone_;
  InputSums sums_;
};

}  // namespace dfrost
