// Random pictures in memory, for the tests of training: each class has a pattern of its own under the noise,
// so that there is something to learn.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backbone/random_weights.h"
#include "base/random.h"
#include "dfrost/backbone.h"
#include "train/sample_source.h"

namespace dfrost::test {

inline std::unique_ptr<Backbone> tiny_backbone(std::size_t special_tokens = 1) {
  Geometry geometry = geometry_of_model("tiny");
  geometry.special_tokens = special_tokens;
  return make_backbone(RandomWeights(geometry, 1), {.precision = Precision::fp32});
}

// Six classes, in a domain of four and one of two.
inline const std::vector<ClassRange> kDomains = {{0, 4}, {4, 2}};

class MemorySamples final : public SampleSource {
 public:
  MemorySamples(const Backbone& backbone, std::size_t count, std::vector<ClassRange> domains, Seed seed)
      : geometry_(backbone.geometry()), domains_(std::move(domains)) {
    RandomStream stream(seed, "samples");
    const std::size_t values = geometry_.patches() * geometry_.patch_values();
    for (std::size_t i = 0; i < count; ++i) {
      domain_.push_back(stream.below(domains_.size()));
      const auto& range = domains_[domain_.back()];
      label_.push_back(range.first + stream.below(range.count));
      RandomStream pattern(7, "pattern", label_.back());
      for (std::size_t v = 0; v < values; ++v)
        pixels_.push_back(static_cast<float>(0.7 * pattern.normal() + 0.7 * stream.normal()));
    }
    compute(backbone);
  }

  std::size_t size() const override { return label_.size(); }
  std::size_t label(std::size_t sample) const override { return label_[sample]; }
  std::size_t domain(std::size_t sample) const override { return domain_[sample]; }
  std::span<const ClassRange> domains() const override { return domains_; }
  void write_patches(std::size_t sample, std::span<float> patches) const override {
    copy(patches_, sample, patches);
  }
  void write_query(std::size_t sample, std::span<float> query) const override {
    copy(queries_, sample, query);
  }

  const std::vector<float>& pixels() const { return pixels_; }

 private:
  void compute(const Backbone& backbone) {
    const std::size_t rows = geometry_.patches(), width = geometry_.width, inputs = geometry_.patch_values();
    patches_.resize(size() * rows * width);
    queries_.resize(size() * width);
    for (std::size_t i = 0; i < size(); ++i) {
      const std::span own(patches_.data() + i * rows * width, rows * width);
      backbone.embed({pixels_.data() + i * rows * inputs, rows, inputs}, {own.data(), rows, width}, nullptr);
      frozen_query(backbone, own, {queries_.data() + i * width, width});
    }
  }
  static void copy(const std::vector<float>& from, std::size_t sample, std::span<float> to) {
    const auto* first = from.data() + sample * to.size();
    std::copy(first, first + to.size(), to.begin());
  }

  Geometry geometry_;
  std::vector<ClassRange> domains_;
  std::vector<std::size_t> domain_, label_;
  std::vector<float> pixels_, patches_, queries_;
};

}  // namespace dfrost::test
