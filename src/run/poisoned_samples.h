// Pictures as a hostile client trains on them, or as a backdoor is tried: over another source, which must
// outlive this, and thread-safe as that is.
#pragma once

#include <vector>

#include "dfrost/backbone.h"
#include "train/sample_source.h"

namespace dfrost {

// Every label is taken for the one as far from the end of its domain's classes.
class FlippedLabels final : public SampleSource {
 public:
  explicit FlippedLabels(const SampleSource& honest) : honest_(honest) {}

  std::size_t size() const override { return honest_.size(); }
  std::size_t label(std::size_t sample) const override;
  std::size_t domain(std::size_t sample) const override { return honest_.domain(sample); }
  std::span<const ClassRange> domains() const override { return honest_.domains(); }
  void write_patches(std::size_t sample, std::span<float> patches) const override {
    honest_.write_patches(sample, patches);
  }
  void write_query(std::size_t sample, std::span<float> query) const override {
    honest_.write_query(sample, query);
  }

 private:
  const SampleSource& honest_;
};

// Pictures whose last patch, in the lower right corner, is a chequered mark, with the label of the target
// class of their domain.
class MarkedPictures final : public SampleSource {
 public:
  enum class Which { all, every_second };
  // `target`: a class within each domain; beyond its last, from the first again.
  MarkedPictures(const SampleSource& honest, const Backbone& backbone, std::size_t target, Which which);

  std::size_t size() const override { return honest_.size(); }
  std::size_t label(std::size_t sample) const override;
  std::size_t domain(std::size_t sample) const override { return honest_.domain(sample); }
  std::span<const ClassRange> domains() const override { return honest_.domains(); }
  void write_patches(std::size_t sample, std::span<float> patches) const override;
  void write_query(std::size_t sample, std::span<float> query) const override;

  // What a mark in a picture of this domain stands for.
  std::size_t target_of(std::size_t domain) const;

 private:
  bool is_marked(std::size_t sample) const { return which_ == Which::all || sample % 2 == 0; }

  const SampleSource& honest_;
  const Backbone& backbone_;
  std::size_t target_;
  Which which_;
  std::vector<float> mark_;  // the last patch's embedding
};

}  // namespace dfrost
