// Differences between two experiments that were run under the same seeds: seed by seed, so that what a seed
// does to both cancels; with the interval that Student's t gives for the mean of so few numbers.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace dfrost {

struct PairedDifference {
  std::size_t seeds = 0;
  double mean = 0;
  // Of the mean; there with two seeds or more.
  std::optional<double> standard_error = {};
  std::optional<double> low = {}, high = {};  // the 95 % interval
};

// Nothing of nothing.
std::optional<PairedDifference> paired_difference(std::span<const double> differences);

// The value that |t| stays below with probability `inside`, with so many degrees of freedom (1 or more).
double student_t_quantile(double inside, std::size_t freedom);

}  // namespace dfrost
