#include "data/embedding_cache.h"

#include <algorithm>
#include <cassert>
#include <mutex>

namespace dfrost {
namespace {

// What the table and the allocator add to a picture's floats, rounded up.
constexpr std::size_t kOverheadBytes = 64;

}  // namespace

EmbeddingCache::EmbeddingCache(std::size_t values, std::size_t limit_bytes)
    : values_(values), capacity_(limit_bytes / (values * sizeof(float) + kOverheadBytes)) {}

std::size_t EmbeddingCache::entry_bytes() const { return values_ * sizeof(float) + kOverheadBytes; }

std::span<const float> EmbeddingCache::find(std::size_t picture) const {
  const std::shared_lock lock(mutex_);
  const auto found = kept_.find(picture);
  if (found == kept_.end()) return {};
  return {found->second.get(), values_};
}

bool EmbeddingCache::insert(std::size_t picture, std::span<const float> values) {
  assert(values.size() == values_);
  const std::lock_guard lock(mutex_);
  if (kept_.contains(picture)) return true;
  if (kept_.size() >= capacity_) return false;
  auto copy = std::make_unique_for_overwrite<float[]>(values_);
  std::copy(values.begin(), values.end(), copy.get());
  kept_.emplace(picture, std::move(copy));
  return true;
}

std::size_t EmbeddingCache::size() const {
  const std::shared_lock lock(mutex_);
  return kept_.size();
}

}  // namespace dfrost
