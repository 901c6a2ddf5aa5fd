// Mean and standard deviation of the pixels of a set, per channel, bytes taken as 0…1 — the figures that
// papers print. Sums are whole numbers, so that the result does not depend on the number of threads.
#pragma once

#include <array>

#include "data/dataset.h"
#include "data/read_options.h"

namespace dfrost {

struct ChannelStatistics {
  std::array<double, 3> mean{};
  std::array<double, 3> std{};
  bool grey = true;  // every pixel of every picture has three equal channels
};

// Over all pixels of all pictures; zeros for an empty set.
ChannelStatistics channel_statistics(const PictureSet& set, const ReadOptions& options = {});

}  // namespace dfrost
