// What is measured of a network's prompt sets. Each set of n rows is seen as the measure (1/n) Σ δ(row).
// Floats at the border, doubles inside; deterministic whatever the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dfrost/matrix_view.h"

namespace dfrost {

struct ConsensusOptions {
  // The barycenter's points; 0: as many as the first client has.
  std::size_t prompts = 0;
  // See BarycenterOptions. A network is measured every round, so only the best start is followed to its end,
  // which is where a pass over all clients gains less than this share. Starts are compared on 600 clients.
  std::size_t starts = 3;
  std::size_t screening_passes = 2;
  double tolerance = 1e-6;
  // 0: 100 for networks of up to 600 clients, fewer above, but 6 at least. Clients that have anything in
  // common agree on a barycenter within three passes; what takes more is noise, which is then followed no
  // further (and `converged` is false).
  std::size_t max_passes = 0;
  std::uint64_t seed = 0;
  std::size_t threads = 1;  // 0: as many as this process may use
};

struct Consensus {
  double error = 0;                       // ε = (1/M) Σ W₂²(client, barycenter)
  double total = 0;                       // Σ W₂²: what the paper plots
  std::vector<double> squared_distances;  // W₂² of each client to the barycenter
  std::vector<float> barycenter;          // [prompts, d] row-major: the prompts of the network model
  std::size_t prompts = 0;
  bool converged = false;
  // The distances are exact, the barycenter is one that no step improves much, not the best there is. What
  // another step would at least take off `error`; and what no barycenter whatever could go below, since the
  // squares of two clients' distances to it sum to half the square of theirs to each other or more.
  double gain = 0;
  double floor = 0;
};

// How far the clients are from agreeing.
Consensus consensus_error(std::span<const MatrixView<const float>> clients,
                          const ConsensusOptions& options = {});

// W₂² between the rows of all senders (weights as in MergeInput) and the set that they were merged into: what
// the merge lost.
double merge_error(std::span<const MatrixView<const float>> senders, std::span<const double> weights,
                   MatrixView<const float> merged);

}  // namespace dfrost
