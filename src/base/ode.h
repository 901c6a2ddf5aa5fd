// Initial value problems y' = f(t, y): the pair of Dormand and Prince, a step of order 5 with an error
// estimate of order 4, steps as long as the tolerances allow, and values between them by its interpolant of
// order 4. What decides a step is the root mean square of error / (absolute + relative·|y|). In double, on
// the calling thread; the same problem gives the same bytes.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace dfrost {

struct OdeOptions {
  double relative = 1e-7;
  double absolute = 1e-9;
  std::size_t most_steps = 100'000;  // tried; a solution that needs more is given up

  void validate() const;  // throws (invalid_argument)
};

struct OdeSummary {
  std::size_t steps = 0;        // taken
  std::size_t rejected = 0;     // tried, and too long
  std::size_t evaluations = 0;  // of f
  bool finished = true;         // false: given up, or no longer finite
};

using OdeFunction = std::function<void(double t, std::span<const double> y, std::span<double> derivative)>;
using OdeOutput = std::function<void(std::size_t index, std::span<const double> y)>;

// From y at times[0] on; `output` gets y at each of `times`, which ascend, until the end or until it is given
// up. `y` becomes the last of them.
OdeSummary solve_ode(const OdeFunction& f, std::span<const double> times, std::span<double> y,
                     const OdeOptions& options, const OdeOutput& output);

}  // namespace dfrost
