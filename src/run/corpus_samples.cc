#include "run/corpus_samples.h"

#include <algorithm>
#include <mutex>

#include "data/dataset.h"

namespace dfrost {

CorpusSamples::CorpusSamples(const Corpus& corpus, const PictureSet& pictures, const Backbone& backbone,
                             const Preprocessing& preprocessing, std::size_t cache_bytes,
                             std::size_t feature_bytes)
    : pictures_(pictures),
      backbone_(backbone),
      preprocessing_(preprocessing),
      patches_(backbone.geometry().patches() * backbone.geometry().width, cache_bytes),
      // A query is one token beside the patches': it may have its share of the memory on top.
      queries_(backbone.geometry().width, cache_bytes / backbone.geometry().patches()),
      features_(backbone.geometry().special_tokens * backbone.geometry().width, feature_bytes) {
  for (const auto& domain : corpus.domains) {
    domains_.push_back({static_cast<std::size_t>(domain.first_class), domain.class_names.size()});
  }
}

std::size_t CorpusSamples::label(std::size_t sample) const {
  return static_cast<std::size_t>(pictures_.labels[sample]);
}

std::size_t CorpusSamples::domain(std::size_t sample) const {
  const auto found =
      std::ranges::find_if(domains_, [&](const auto& range) { return range.contains(label(sample)); });
  return static_cast<std::size_t>(found - domains_.begin());
}

void CorpusSamples::write_patches(std::size_t sample, std::span<float> patches) const {
  if (const auto kept = patches_.find(sample); !kept.empty()) {
    std::ranges::copy(kept, patches.begin());
    return;
  }
  const Geometry& g = backbone_.geometry();
  thread_local Image scratch;
  thread_local std::vector<float> pixels;
  pixels.resize(g.patches() * g.patch_values());
  const ImageView picture = view_picture(pictures_, sample, scratch);
  preprocessor(picture.width, picture.height).to_patches(picture.rgb, g.patch_size, pixels);
  backbone_.embed({pixels.data(), g.patches(), g.patch_values()}, {patches.data(), g.patches(), g.width},
                  nullptr);
  patches_.insert(sample, patches);
}

void CorpusSamples::write_query(std::size_t sample, std::span<float> query) const {
  if (const auto kept = queries_.find(sample); !kept.empty()) {
    std::ranges::copy(kept, query.begin());
    return;
  }
  std::vector<float> patches(backbone_.geometry().patches() * backbone_.geometry().width);
  write_patches(sample, patches);
  frozen_query(backbone_, patches, query);
  queries_.insert(sample, query);
}

const Preprocessor& CorpusSamples::preprocessor(std::size_t width, std::size_t height) const {
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = preprocessors_.find({width, height}); found != preprocessors_.end())
      return *found->second;
  }
  auto made = std::make_unique<const Preprocessor>(width, height, preprocessing_);
  const std::unique_lock lock(mutex_);
  return *preprocessors_.try_emplace({width, height}, std::move(made)).first->second;
}

}  // namespace dfrost
