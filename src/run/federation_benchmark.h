// What a round costs beside its training: a federation over random pictures and a backbone with random
// weights, clients of equal data, timed stage by stage. For `dfrost bench federation`.
#pragma once

#include <cstddef>
#include <string>

#include "dfrost/backbone.h"
#include "records/record.h"

namespace dfrost {

struct FederationBenchmarkOptions {
  std::string method = "dfrost";
  std::size_t clients = 50;
  std::size_t pictures = 16;  // of each client
  std::size_t epochs = 1;
  std::size_t rounds = 3;   // timed, after one that is not
  std::size_t threads = 0;  // 0: all there are

  void validate() const;
};

struct FederationBenchmark {
  std::size_t threads = 0;
  StageSeconds seconds;               // all timed rounds together
  double seconds_per_client = 0;      // and round: wall clock, all clients side by side
  double overhead = 0;                // the share of everything but training; nothing is scored
  std::size_t data_bytes = 0;         // pictures
  std::size_t peak_memory_bytes = 0;  // of the whole process
};

FederationBenchmark benchmark_federation(const Backbone& backbone, const FederationBenchmarkOptions& options);

}  // namespace dfrost
