#include "study/paired.h"

#include <cmath>
#include <numbers>

#include "report/groups.h"

namespace dfrost {
namespace {

// P(|T| < t) for a whole number of degrees of freedom: a finite sum (Abramowitz and Stegun 26.7.3
// and 26.7.4).
double inside_student_t(double t, std::size_t freedom) {
  const double angle = std::atan(t / std::sqrt(static_cast<double>(freedom)));
  const double sine = std::sin(angle), squared = std::cos(angle) * std::cos(angle);
  const bool odd = freedom % 2 == 1;
  double term = odd ? std::cos(angle) : 1, sum = 0;
  for (std::size_t k = odd ? 2 : 1; k < freedom; k += 2) {
    sum += term;
    term *= squared * static_cast<double>(k) / static_cast<double>(k + 1);
  }
  return odd ? 2 / std::numbers::pi * (angle + sine * sum) : sine * sum;
}

}  // namespace

double student_t_quantile(double inside, std::size_t freedom) {
  double low = 0, high = 1;
  while (inside_student_t(high, freedom) < inside) high *= 2;
  for (int step = 0; step < 200 && high - low > 1e-14 * high; ++step) {
    const double middle = (low + high) / 2;
    (inside_student_t(middle, freedom) < inside ? low : high) = middle;
  }
  return (low + high) / 2;
}

std::optional<PairedDifference> paired_difference(std::span<const double> differences) {
  const auto spread = mean_std(differences);
  if (!spread) return std::nullopt;
  PairedDifference difference{.seeds = differences.size(), .mean = spread->mean};
  if (differences.size() < 2) return difference;
  const double error = spread->std / std::sqrt(static_cast<double>(differences.size()));
  const double reach = error * student_t_quantile(0.95, differences.size() - 1);
  difference.standard_error = error;
  difference.low = spread->mean - reach;
  difference.high = spread->mean + reach;
  return difference;
}

}  // namespace dfrost
