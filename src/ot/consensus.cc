#include <fmt/format.h>

#include <algorithm>

#include "base/thread_pool.h"
#include "dfrost/error.h"
#include "dfrost/measure.h"
#include "dfrost/wasserstein.h"
#include "ot/checks.h"
#include "ot/free_support_barycenter.h"

namespace dfrost {
namespace {

// Reading every value once is a good part of a pass over a large network, so it is shared out too.
void check_clients(std::span<const MatrixView<const float>> clients, ThreadPool& pool) {
  if (clients.empty())
    throw Error(ErrorCode::invalid_argument, "a network of no clients has no consensus error");
  constexpr std::size_t kBlock = 64;
  pool.parallel_for((clients.size() + kBlock - 1) / kBlock, [&](std::size_t block, std::size_t) {
    const std::size_t end = std::min((block + 1) * kBlock, clients.size());
    for (std::size_t u = block * kBlock; u < end; ++u) {
      check_points(clients[u], clients.front().cols(), fmt::format("client {}", u));
    }
  });
}

// Enough to tell a good start from a bad one.
constexpr std::size_t kScreeningClients = 600;

std::size_t default_passes(std::size_t clients) {
  constexpr std::size_t kVisits = 60'000;
  return std::clamp<std::size_t>(kVisits / std::max<std::size_t>(clients, 1), 6, 100);
}

// Σ over pairs of ½·W₂²: what the distances to any one set sum to at least. Clients half a network apart are
// paired, which seldom hold alike data. One that is left over may lie on it.
double least_total(std::span<const Measure> clients, ThreadPool& pool) {
  std::vector<double> halves(clients.size() / 2);
  pool.parallel_for(halves.size(), [&](std::size_t pair, std::size_t) {
    halves[pair] = 0.5 * wasserstein2_squared(clients[pair], clients[pair + halves.size()]).w2_squared;
  });
  double sum = 0;
  for (const double half : halves) sum += half;
  return sum;
}

}  // namespace

Consensus consensus_error(std::span<const MatrixView<const float>> clients, const ConsensusOptions& options) {
  const BarycenterOptions how{
      .starts = options.starts,
      .screening_passes = options.screening_passes,
      .screening_measures = kScreeningClients,
      .tolerance = options.tolerance,
      .max_passes = options.max_passes == 0 ? default_passes(clients.size()) : options.max_passes,
      .seed = options.seed};
  how.validate();
  ThreadPool pool(options.threads);
  check_clients(clients, pool);
  std::vector<Measure> measures;
  measures.reserve(clients.size());
  for (const auto& client : clients) measures.push_back({client});
  const std::vector<double> weights(clients.size(), 1.0 / static_cast<double>(clients.size()));

  Consensus result;
  result.prompts = options.prompts == 0 ? clients.front().rows() : options.prompts;
  auto found = free_support_barycenter(measures, weights, result.prompts, how, pool);
  result.barycenter.resize(result.prompts * clients.front().cols());
  found.points.copy_to({result.barycenter.data(), result.prompts, clients.front().cols()});
  result.squared_distances = std::move(found.summary.squared_distances);
  for (const double distance : result.squared_distances) result.total += distance;
  result.error = result.total / static_cast<double>(clients.size());
  result.converged = found.summary.converged;
  result.gain = found.summary.gain;
  result.floor = least_total(measures, pool) / static_cast<double>(clients.size());
  return result;
}

}  // namespace dfrost
