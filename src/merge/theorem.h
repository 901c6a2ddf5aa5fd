// Theorem 1 of the paper, checked on a descent while it runs: min_s Δ(s) ≤ sqrt(4 (J(0) − J*) / (μ S)).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "dfrost/merge.h"

namespace dfrost {

class TheoremOne {
 public:
  // `lowest_objective` is J*; `convexity` is μ, 0 where the theorem says nothing.
  TheoremOne(double lowest_objective, double convexity) : lowest_(lowest_objective), convexity_(convexity) {}

  // The next step is the first of a descent that starts at this J.
  void start(double objective) {
    gap_ = objective - lowest_;
    steps_ = 0;
    smallest_ = std::numeric_limits<double>::infinity();
  }

  void add_step(double delta) {
    ++steps_;
    smallest_ = std::min(smallest_, delta);
  }

  TheoremCheck check() const {
    const double divisor = convexity_ * static_cast<double>(steps_);
    TheoremCheck result{.bound = std::numeric_limits<double>::infinity(), .smallest_delta = smallest_};
    if (divisor > 0) result.bound = std::sqrt(4 * std::max(gap_, 0.0) / divisor);
    result.held = steps_ == 0 || smallest_ <= result.bound * (1 + 1e-9);
    return result;
  }

 private:
  double lowest_;
  double convexity_;
  double gap_ = 0;
  std::size_t steps_ = 0;
  double smallest_ = 0;
};

}  // namespace dfrost
