#include "merge/neighbourhood.h"

#include <fmt/format.h>

#include <utility>

#include "dfrost/error.h"
#include "ot/checks.h"
#include "ot/row_kernels.h"

namespace dfrost {
namespace {

// M z of every row z. In floats, as rows that came over the wire are: both forms of a merge count on it.
DoubleMatrix images_of(const DoubleMatrix& rows, MatrixView<const float> metric) {
  DoubleMatrix images(rows.rows(), metric.rows());
  products(rows, FloatMatrix(metric), images);
  for (std::size_t r = 0; r < images.rows(); ++r) {
    for (double& value : images.row(r)) value = static_cast<double>(static_cast<float>(value));
  }
  return images;
}

}  // namespace

Neighbourhood gather(const MergeInput& input, MatrixView<const float> previous) {
  Neighbourhood all;
  all.weights = checked_weights(input.weights, input.senders.size(), "sender weights");
  std::size_t count = 0;
  if (!input.masses.empty() && input.masses.size() != input.senders.size())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} senders have {} lists of masses", input.senders.size(), input.masses.size()))
        .at("masses");
  for (std::size_t s = 0; s < input.senders.size(); ++s) {
    check_points(input.senders[s], input.senders.front().cols(), fmt::format("sender {}", s));
    count += input.senders[s].rows();
  }
  all.rows = DoubleMatrix(count + previous.rows(), input.senders.front().cols());
  for (std::size_t s = 0; s < input.senders.size(); ++s) {
    const auto& set = input.senders[s];
    all.rows.set_rows(all.mass.size(), set);
    const bool alike = input.masses.empty() || input.masses[s].empty();
    const auto shares = alike ? std::vector<double>()
                              : checked_weights(input.masses[s], set.rows(), fmt::format("masses of {}", s));
    for (std::size_t r = 0; r < set.rows(); ++r) {
      all.mass.push_back(alike ? all.weights[s] / static_cast<double>(set.rows())
                               : all.weights[s] * shares[r]);
      all.index.push_back(r);
    }
  }
  all.rows.set_rows(count, previous);
  if (!input.metric.empty()) {
    check_points(input.metric, all.rows.cols(), "metric");
    all.embedded = std::move(all.rows);
    all.rows = images_of(all.embedded, input.metric);
  }
  return all;
}

DoubleMatrix combine_embedded(const Neighbourhood& neighbourhood, const DoubleMatrix& weights,
                              std::span<const double> scale) {
  DoubleMatrix prompts(weights.rows(), neighbourhood.embedded.cols());
  for (std::size_t i = 0; i < weights.rows(); ++i) {
    for (std::size_t k = 0; k < weights.cols(); ++k) {
      const double coefficient = scale[i] * weights(i, k);
      if (coefficient != 0) add_scaled_row(neighbourhood.embedded.row(k), coefficient, prompts.row(i));
    }
  }
  return prompts;
}

double off_index_mass(const Neighbourhood& neighbourhood, std::span<const double> plan, std::size_t prompts) {
  double off = 0;
  for (std::size_t a = 0; a < neighbourhood.mass.size(); ++a) {
    for (std::size_t i = 0; i < prompts; ++i) {
      if (i != neighbourhood.index[a]) off += plan[a * prompts + i];
    }
  }
  return off;
}

}  // namespace dfrost
