// What protecting pictures costs in training: the same steps on the same pictures with and without, in turns,
// so that whatever else the machine does slows both. For `dfrost bench privacy`.
#pragma once

#include <cstddef>

#include "dfrost/backbone.h"

namespace dfrost {

struct PrivacyBenchmarkOptions {
  std::size_t batch = 16;
  std::size_t prompts = 10;
  std::size_t classes = 50;
  double seconds = 6;  // of the whole measurement

  void validate() const;
};

struct PrivacyBenchmark {
  std::size_t turns = 0;       // steps of each kind
  double plain_seconds = 0;    // of a step, median
  double private_seconds = 0;  // clipped picture by picture and noised from the system's generator
  double ratio = 0;            // median over turns
};

// On one thread, as a client trains.
PrivacyBenchmark benchmark_privacy(const Backbone& backbone, const PrivacyBenchmarkOptions& options);

}  // namespace dfrost
