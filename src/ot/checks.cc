#include "ot/checks.h"

#include <fmt/format.h>

#include <cmath>

#include "base/finite.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

Error bad_input(const std::string& message, const std::string& place, std::string hint = {}) {
  return Error(ErrorCode::invalid_argument, message, std::move(hint)).at(place);
}

}  // namespace

void check_points(MatrixView<const float> points, const std::string& place) {
  if (points.empty()) {
    throw bad_input(
        fmt::format("a point set of {} rows and {} columns is empty", points.rows(), points.cols()), place);
  }
  for (std::size_t r = 0; r < points.rows(); ++r) {
    if (all_finite(points.row(r))) continue;
    std::size_t c = 0;
    while (std::isfinite(points(r, c))) ++c;
    throw bad_input(fmt::format("row {}, column {} is {}: not a finite number", r, c, points(r, c)), place,
                    "a training step that diverged writes such values; merge its input instead");
  }
}

void check_points(MatrixView<const float> points, std::size_t width, const std::string& place) {
  if (!points.empty() && points.cols() != width) {
    throw bad_input(fmt::format("rows have {} columns, those of the first set have {}", points.cols(), width),
                    place,
                    "prompt sets can only be compared when they belong to backbones of the same width");
  }
  check_points(points, place);
}

std::vector<double> checked_weights(std::span<const double> weights, std::size_t count,
                                    const std::string& place) {
  if (weights.empty()) return std::vector<double>(count, 1.0 / static_cast<double>(count));
  if (weights.size() != count) {
    throw bad_input(fmt::format("{} weights for {} members", weights.size(), count), place);
  }
  double sum = 0;
  for (const double weight : weights) {
    if (!(weight >= 0) || !std::isfinite(weight))
      throw bad_input(fmt::format("a weight is {}", weight), place);
    sum += weight;
  }
  if (!(std::abs(sum - 1) <= 1e-6)) {
    throw bad_input(fmt::format("weights sum to {}, not to one", sum), place, "divide each by their sum");
  }
  std::vector<double> normalised(weights.begin(), weights.end());
  for (double& weight : normalised) weight /= sum;
  return normalised;
}

}  // namespace dfrost
