#include "ot/seeding.h"

#include <algorithm>
#include <limits>

#include "ot/row_kernels.h"

namespace dfrost {
namespace {

std::size_t draw(std::span<const double> scores, RandomStream& random) {
  double total = 0;
  for (const double score : scores) total += score;
  if (!(total > 0)) return random.below(scores.size());  // every row lies on a chosen one
  double left = random.uniform() * total;
  std::size_t last = 0;
  for (std::size_t r = 0; r < scores.size(); ++r) {
    if (!(scores[r] > 0)) continue;
    last = r;
    if ((left -= scores[r]) < 0) break;
  }
  return last;
}

}  // namespace

std::vector<std::size_t> kmeans_plus_plus(const DoubleMatrix& points, std::span<const double> weights,
                                          std::size_t count, std::vector<std::size_t> chosen,
                                          RandomStream& random) {
  chosen.resize(std::min(chosen.size(), count));
  if (chosen.size() == count) return chosen;
  std::vector<double> nearest(points.rows(), std::numeric_limits<double>::infinity());
  std::vector<double> scores(weights.begin(), weights.end());
  DoubleMatrix latest(1, points.cols()), distances(1, points.rows());
  const auto account_for = [&](std::size_t row) {
    std::ranges::copy(points.row(row), latest.row(0).begin());
    squared_distances(latest, points, distances);
    for (std::size_t r = 0; r < points.rows(); ++r) {
      nearest[r] = std::min(nearest[r], distances(0, r));
      scores[r] = weights[r] * nearest[r];
    }
  };
  for (const std::size_t row : chosen) account_for(row);
  while (chosen.size() < count) {
    chosen.push_back(draw(scores, random));
    account_for(chosen.back());
  }
  return chosen;
}

}  // namespace dfrost
