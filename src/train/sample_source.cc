#include "train/sample_source.h"

#include <algorithm>
#include <vector>

namespace dfrost {

void frozen_query(const Backbone& backbone, std::span<const float> patches, std::span<float> query) {
  const auto& geometry = backbone.geometry();
  std::vector<float> features(geometry.special_tokens * geometry.width);
  const Batch batch{1, 0, {patches.data(), geometry.patches(), geometry.width}, {}};
  backbone.forward(batch, {features.data(), geometry.special_tokens, geometry.width}, nullptr, nullptr);
  std::copy_n(features.begin(), query.size(), query.begin());
}

}  // namespace dfrost
