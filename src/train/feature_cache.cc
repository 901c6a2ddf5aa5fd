#include "train/feature_cache.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "base/content_hash.h"

namespace dfrost {
namespace {

// What a table and the allocator add to an entry, rounded up.
constexpr std::size_t kOverheadBytes = 128;

std::uint64_t hash_of(std::span<const float> prompts) {
  ContentHash hash;
  hash.add(prompts);
  return hash.value();
}

// By their bytes: zeros of either sign are told apart, as they may be told apart by what follows.
bool same_bytes(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

}  // namespace

std::span<const float> FeatureCache::find(std::size_t sample, std::span<const float> prompts) const {
  if (limit_bytes_ == 0) return {};
  const auto hash = hash_of(prompts);
  const std::shared_lock lock(mutex_);
  const auto known = prompts_.find(hash);
  if (known == prompts_.end() || !same_bytes(known->second, prompts)) return {};
  const auto found = kept_.find({hash, sample});
  if (found == kept_.end()) return {};
  return {found->second.get(), values_};
}

void FeatureCache::insert(std::size_t sample, std::span<const float> prompts,
                          std::span<const float> features) {
  if (limit_bytes_ == 0) return;
  const auto hash = hash_of(prompts);
  const std::lock_guard lock(mutex_);
  if (const auto known = prompts_.find(hash); known == prompts_.end()) {
    if (!afford(prompts.size_bytes())) return;
    prompts_.emplace(hash, std::vector<float>(prompts.begin(), prompts.end()));
  } else if (!same_bytes(known->second, prompts)) {
    return;
  }
  if (kept_.contains({hash, sample}) || !afford(values_ * sizeof(float))) return;
  auto copy = std::make_unique_for_overwrite<float[]>(values_);
  std::ranges::copy(features, copy.get());
  kept_.emplace(std::pair(hash, sample), std::move(copy));
}

bool FeatureCache::afford(std::size_t bytes) {
  const std::size_t wanted = used_bytes_ + bytes + kOverheadBytes;
  if (wanted > limit_bytes_) return false;
  used_bytes_ = wanted;
  return true;
}

}  // namespace dfrost
