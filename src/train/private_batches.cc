#include "train/private_batches.h"

#include <algorithm>

namespace dfrost {

double sampling_rate(std::size_t batch, std::size_t pictures) {
  return pictures <= batch ? 1.0 : static_cast<double>(batch) / static_cast<double>(pictures);
}

PrivateBatches::PrivateBatches(const PictureNoise& options, std::size_t batch, std::size_t pictures,
                               const RandomKey& key)
    : options_(options),
      pictures_(pictures),
      rate_(sampling_rate(batch, pictures)),
      key_(key),
      sampling_(options.origin, key.seed, "private batches", key.client, key.round),
      noise_(options.origin, key.seed, "noise of gradients", key.client, key.round) {
  if (options.origin == NoiseOrigin::system) key_.seed = sampling_.next();
}

std::vector<std::size_t> PrivateBatches::draw() {
  std::vector<std::size_t> batch;
  for (std::size_t i = 0; i < pictures_; ++i)
    if (sampling_.uniform() < rate_) batch.push_back(i);
  return batch;
}

void PrivateBatches::add_noise(std::span<float> sum) {
  const double deviation = options_.noise * options_.clip;
  const double expected = std::max(1.0, rate_ * static_cast<double>(pictures_));
  for (float& value : sum)
    value = static_cast<float>((static_cast<double>(value) + deviation * noise_.normal()) / expected);
}

}  // namespace dfrost
