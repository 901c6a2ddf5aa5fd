// Pictures of a pooled set as what training reads: labels, domains, and patch embeddings made by the backbone
// when asked for and kept within a memory limit, and features that the same prompts give again. What is
// computed for a picture depends on that picture alone. Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "data/corpus.h"
#include "data/embedding_cache.h"
#include "data/preprocess.h"
#include "dfrost/backbone.h"
#include "train/feature_cache.h"
#include "train/sample_source.h"

namespace dfrost {

class CorpusSamples final : public SampleSource {
 public:
  // `pictures` is corpus.train or corpus.test. All references must outlive this.
  CorpusSamples(const Corpus& corpus, const PictureSet& pictures, const Backbone& backbone,
                const Preprocessing& preprocessing, std::size_t cache_bytes, std::size_t feature_bytes = 0);

  std::size_t size() const override { return pictures_.size(); }
  std::size_t label(std::size_t sample) const override;
  std::size_t domain(std::size_t sample) const override;
  std::span<const ClassRange> domains() const override { return domains_; }
  void write_patches(std::size_t sample, std::span<float> patches) const override;
  void write_query(std::size_t sample, std::span<float> query) const override;
  std::span<const float> kept_features(std::size_t sample, std::span<const float> prompts) const override {
    return features_.find(sample, prompts);
  }
  void keep_features(std::size_t sample, std::span<const float> prompts,
                     std::span<const float> features) const override {
    features_.insert(sample, prompts, features);
  }

 private:
  const Preprocessor& preprocessor(std::size_t width, std::size_t height) const;

  const PictureSet& pictures_;
  const Backbone& backbone_;
  Preprocessing preprocessing_;
  std::vector<ClassRange> domains_;
  mutable EmbeddingCache patches_;
  mutable EmbeddingCache queries_;
  mutable FeatureCache features_;
  // One per picture size; nearly always there is just one.
  mutable std::shared_mutex mutex_;
  mutable std::map<std::pair<std::size_t, std::size_t>, std::unique_ptr<const Preprocessor>> preprocessors_;
};

// Some of the samples of another source: one client's.
class SampleSubset final : public SampleSource {
 public:
  SampleSubset(const SampleSource& all, std::vector<std::size_t> members)
      : all_(all), members_(std::move(members)) {}

  std::size_t size() const override { return members_.size(); }
  std::size_t label(std::size_t sample) const override { return all_.label(members_[sample]); }
  std::size_t domain(std::size_t sample) const override { return all_.domain(members_[sample]); }
  std::span<const ClassRange> domains() const override { return all_.domains(); }
  void write_patches(std::size_t sample, std::span<float> patches) const override {
    all_.write_patches(members_[sample], patches);
  }
  void write_query(std::size_t sample, std::span<float> query) const override {
    all_.write_query(members_[sample], query);
  }
  std::span<const float> kept_features(std::size_t sample, std::span<const float> prompts) const override {
    return all_.kept_features(members_[sample], prompts);
  }
  void keep_features(std::size_t sample, std::span<const float> prompts,
                     std::span<const float> features) const override {
    all_.keep_features(members_[sample], prompts, features);
  }

 private:
  const SampleSource& all_;
  std::vector<std::size_t> members_;
};

}  // namespace dfrost
