#include "merge/neighbourhood.h"

#include <fmt/format.h>

#include "dfrost/error.h"
#include "ot/checks.h"

namespace dfrost {

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
  return all;
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
