// What protects single pictures in training (Abadi et al. 2016): a step's batch is a Poisson sample, each
// picture being in it with the same probability by itself; the sum of the pictures' clipped gradients gets
// Gaussian noise, and is divided by the size that a batch has on average. All draws come from one place that
// nobody else knows where the origin is the system; from the key, step by step, where it is the seed.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "privacy/noise_source.h"
#include "train/random_key.h"

namespace dfrost {

struct PictureNoise {
  double clip = 0;   // the longest gradient of a picture, over prompts and head; 0: nothing is protected
  double noise = 0;  // deviation of the noise, times `clip`
  NoiseOrigin origin = NoiseOrigin::seed;

  bool active() const { return clip > 0; }
};

// How likely a picture is in a batch; batches of a client with fewer pictures hold them all.
double sampling_rate(std::size_t batch, std::size_t pictures);

class PrivateBatches {
 public:
  PrivateBatches(const PictureNoise& options, std::size_t batch, std::size_t pictures, const RandomKey& key);

  // The pictures of the next batch, in their order; there may be none.
  std::vector<std::size_t> draw();
  // From the sum of a batch's clipped gradients to a noisy mean.
  void add_noise(std::span<float> sum);

  const PictureNoise& options() const { return options_; }
  // For what else is random in a step: known to nobody either.
  const RandomKey& key() const { return key_; }

 private:
  PictureNoise options_;
  std::size_t pictures_;
  double rate_;
  RandomKey key_;
  NoiseSource sampling_, noise_;
};

}  // namespace dfrost
