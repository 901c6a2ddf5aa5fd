// How fast a backbone trains and infers on this machine: several clients side by side, as in a federation, or
// one client with all threads; beside the matrix-product peak of the same run.
#pragma once

#include <cstddef>

#include "dfrost/backbone.h"

namespace dfrost {

struct StepBenchmarkOptions {
  std::size_t batch = 16;
  std::size_t prompts = 10;
  std::size_t threads = 0;  // 0: all that this process may use
  std::size_t clients = 0;  // 0: one per thread, each on its own; 1: one client with all threads
  double seconds = 3;       // of each measurement

  void validate() const;  // throws invalid_argument
};

struct StepBenchmark {
  std::size_t threads = 0;
  std::size_t clients = 0;
  double images_per_second_train = 0;  // forward and backward, from normalised pixels
  double images_per_second_forward = 0;
  double gflops_train = 0;  // of the operations really executed
  double gflops_forward = 0;
  double gemm_peak_gflops = 0;  // the best product over the model's own large shapes, all threads at once
  double fraction_of_peak = 0;  // gflops_train / gemm_peak_gflops
};

// Pictures a second, forward and back, that this machine does when nothing else runs on it, from a moment in
// which much may: by the time that the threads themselves computed, the best of several short tries of
// options.seconds together, or of as many as twice that allows, of a large model one.
double quiet_train_rate(const Backbone& backbone, StepBenchmarkOptions options);

StepBenchmark benchmark_step(const Backbone& backbone, const StepBenchmarkOptions& options);

}  // namespace dfrost
