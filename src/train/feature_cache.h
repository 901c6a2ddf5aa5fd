// Keeps features of samples under prompts that come back as they were: where prompts never move, one forward
// pass of a picture serves all rounds, and all clients whose prompts are the same. Bounded: once
// `limit_bytes` are used, nothing more is kept, and nothing is ever dropped, so a returned span stays valid
// as long as the cache. Thread-safe. What is kept is what a pass would give, so it changes no result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace dfrost {

class FeatureCache {
 public:
  // `values` floats per sample. A limit of 0 keeps nothing.
  FeatureCache(std::size_t values, std::size_t limit_bytes) : values_(values), limit_bytes_(limit_bytes) {}

  // Empty where none are kept of the sample under exactly these prompts.
  std::span<const float> find(std::size_t sample, std::span<const float> prompts) const;
  // Keeps a copy, of the prompts too, unless the cache is full.
  void insert(std::size_t sample, std::span<const float> prompts, std::span<const float> features);

 private:
  // Takes so much of what is left, if it can.
  bool afford(std::size_t bytes);

  const std::size_t values_, limit_bytes_;
  mutable std::shared_mutex mutex_;
  std::size_t used_bytes_ = 0;
  // By their hash; of two sets with one hash only the first is kept.
  std::unordered_map<std::uint64_t, std::vector<float>> prompts_;
  std::map<std::pair<std::uint64_t, std::size_t>, std::unique_ptr<float[]>> kept_;  // by prompts and sample
};

}  // namespace dfrost
