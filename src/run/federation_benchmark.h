// What a round costs beside its training: a federation over random pictures and a backbone with random
// weights, clients of equal data in a regular graph, timed stage by stage, with the records and the
// checkpoint that a run would write. For `dfrost bench federation`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

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

// What a round took of the process, records and checkpoint included, divided by its clients.
struct ClientRoundCost {
  double processor_seconds = 0;
  double page_faults = 0;
};

struct FederationBenchmark {
  std::size_t threads = 0;
  std::size_t degree = 0;
  StageSeconds seconds;                     // all timed rounds together
  double write_seconds = 0;                 // records and checkpoint of each
  double seconds_per_client = 0;            // and round: wall clock, all clients side by side
  double processor_seconds_per_client = 0;  // and round, of all threads: other programs hardly change it
  std::vector<ClientRoundCost> each_round;  // the one before those that are timed first
  double overhead = 0;                      // the share of everything but training; nothing is scored
  RoundRecord last;                   // with the mixing factor, the consensus error, and how good either is
  std::size_t data_bytes = 0;         // pictures
  std::size_t state_bytes = 0;        // a client's own: what it trains, as a checkpoint has it
  std::size_t client_bytes = 0;       // of memory that came with each client, at most, its state included
  std::size_t peak_memory_bytes = 0;  // of the whole process
};

FederationBenchmark benchmark_federation(const Backbone& backbone, const FederationBenchmarkOptions& options);

}  // namespace dfrost
