#include "run/backbone_frame.h"

#include <utility>

#include "dfrost/error.h"
#include "kernels/buffer.h"
#include "train/head.h"

namespace dfrost {

std::optional<FrameParts> backbone_frame(const RunConfig& config, const std::filesystem::path& path,
                                         const Checkpoint& checkpoint, const std::string& weights) {
  if (!config.takes_backbone_moments()) return std::nullopt;
  const auto stored = moments_beside(path, moments_origin(checkpoint, weights));
  InputMoments moments{static_cast<double>(stored.count), {stored.mean.begin(), stored.mean.end()}, {}};
  if (config.train.frame.coordinates == HeadCoordinates::whitened)
    moments.covariance.assign(stored.covariance.begin(), stored.covariance.end());
  return frame_parts(moments, config.train.frame.shrinkage);
}

std::shared_ptr<const std::vector<float>> backbone_metric(const RunConfig& config,
                                                          const Checkpoint& checkpoint) {
  if (config.merge.metric == MergeMetric::embedding) return nullptr;
  auto map = checkpoint.weights().first_block_map();
  if (map.empty())
    throw Error(ErrorCode::failed_precondition,
                "the backbone has no first block whose keys and values could be compared",
                "use merge.metric 'embedding', or a vision transformer")
        .at("merge.metric");
  return std::make_shared<const std::vector<float>>(std::move(map));
}

FeatureSums::FeatureSums(const Backbone& backbone)
    : backbone_(backbone), sums_(backbone.geometry().width, true) {}

void FeatureSums::add(MatrixView<const float> pixels, ThreadPool& threads) {
  const Geometry& g = backbone_.geometry();
  const std::size_t images = pixels.rows() / g.patches();
  Matrix<float> patches, features;
  patches.resize(pixels.rows(), g.width);
  features.resize(images * g.special_tokens, g.width);
  backbone_.embed(pixels, patches, &threads);
  backbone_.forward({images, 0, patches, {}}, features, nullptr, &threads);
  HeadPass pass;
  sums_.add(head_inputs({.kind = HeadKind::linear}, backbone_, features, pass));
}

FeatureMoments FeatureSums::moments() const {
  const auto exact = moments_of(sums_);
  return {static_cast<float>(exact.count),
          {exact.mean.begin(), exact.mean.end()},
          {exact.covariance.begin(), exact.covariance.end()}};
}

}  // namespace dfrost
