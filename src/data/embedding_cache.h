// Keeps what a backbone computed from a picture alone — its patch embeddings, [patches, d] — so that later
// epochs need not compute it again. Bounded: once `limit_bytes` are used, new pictures are simply not kept.
// Nothing is ever dropped: training visits pictures in rounds, where dropping the oldest would drop each one
// just before it is needed again. So a returned span stays valid as long as the cache.
// Thread-safe. What is cached never changes a result, only the time it takes.
#pragma once

#include <cstddef>
#include <memory>
#include <shared_mutex>
#include <span>
#include <unordered_map>

namespace dfrost {

class EmbeddingCache {
 public:
  // `values` floats per picture. A limit of 0 keeps nothing.
  EmbeddingCache(std::size_t values, std::size_t limit_bytes);

  // Empty if the picture is not kept.
  std::span<const float> find(std::size_t picture) const;

  // Keeps a copy unless the cache is full or has it already; returns whether it is kept now.
  bool insert(std::size_t picture, std::span<const float> values);

  std::size_t size() const;
  std::size_t used_bytes() const { return size() * entry_bytes(); }
  std::size_t capacity() const { return capacity_; }  // pictures

 private:
  std::size_t entry_bytes() const;

  std::size_t values_;
  std::size_t capacity_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::size_t, std::unique_ptr<float[]>> kept_;
};

}  // namespace dfrost
