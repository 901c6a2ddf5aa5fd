#include "base/ode.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "dfrost/error.h"

namespace dfrost {
namespace {

constexpr std::size_t kStages = 7;  // the last is the first of the next step

// Dormand and Prince (1980): when, from which, the step itself in the last row, and how far it may be off.
constexpr std::array<double, kStages> kTimes = {0, 1. / 5, 3. / 10, 4. / 5, 8. / 9, 1, 1};
constexpr std::array<std::array<double, kStages - 1>, kStages> kWeights = {{
    {},
    {1. / 5},
    {3. / 40, 9. / 40},
    {44. / 45, -56. / 15, 32. / 9},
    {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
    {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
    {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84},
}};
constexpr std::array<double, kStages> kError = {-71. / 57600,    0,          71. / 16695, -71. / 1920,
                                                17253. / 339200, -22. / 525, 1. / 40};
// Shampine's interpolant: y(t + x·h) = y + h Σ_j x^(j+1) Σ_s kBetween[s][j] k_s.
constexpr std::size_t kPowers = 4;
constexpr std::array<std::array<double, kPowers>, kStages> kBetween = {{
    {1, -8048581381. / 2820520608, 8663915743. / 2820520608, -12715105075. / 11282082432},
    {},
    {0, 131558114200. / 32700410799, -68118460800. / 10900136933, 87487479700. / 32700410799},
    {0, -1754552775. / 470086768, 14199869525. / 1410260304, -10690763975. / 1880347072},
    {0, 127303824393. / 49829197408, -318862633887. / 49829197408, 701980252875. / 199316789632},
    {0, -282668133. / 205662961, 2019193451. / 616988883, -1453857185. / 822651844},
    {0, 40617522. / 29380423, -110615467. / 29380423, 69997945. / 29380423},
}};

constexpr double kSafety = 0.9, kShortest = 0.2, kLongest = 10;  // of a step, as a share of the last
constexpr double kOrder = 5;

class Solver {
 public:
  Solver(const OdeFunction& f, double start, std::span<double> y, const OdeOptions& options)
      : f_(f), y_(y), options_(options), t_(start), next_(y.size()), middle_(y.size()) {
    for (auto& stage : stages_) stage.resize(y.size());
    for (auto& power : powers_) power.resize(y.size());
    evaluate(t_, y_, stages_.front());
  }

  OdeSummary solve(std::span<const double> times, const OdeOutput& output) {
    const double end = times.back();
    std::size_t index = 0;
    while (index < times.size() && times[index] <= t_) output(index++, y_);
    if (index == times.size()) return summary_;
    length_ = first_length(end);
    while (index < times.size()) {
      if (!advance(end)) {
        summary_.finished = false;
        return summary_;
      }
      if (times[index] <= arrival_) prepare_between();
      for (; index < times.size() && times[index] <= arrival_; ++index)
        output(index, times[index] == arrival_ ? std::span<const double>(next_) : between(times[index]));
      t_ = arrival_;
      std::ranges::copy(next_, y_.begin());
      stages_.front().swap(stages_.back());
      length_ = following_;
    }
    return summary_;
  }

 private:
  void evaluate(double t, std::span<const double> y, std::span<double> derivative) {
    f_(t, y, derivative);
    ++summary_.evaluations;
  }

  // Root mean square of x over what may be off at y, or at the larger of two.
  double norm(std::span<const double> x, std::span<const double> y, std::span<const double> other) const {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double scale =
          options_.absolute + options_.relative * std::max(std::abs(y[i]), std::abs(other[i]));
      sum += (x[i] / scale) * (x[i] / scale);
    }
    return std::sqrt(sum / static_cast<double>(std::max<std::size_t>(1, x.size())));
  }

  // Hairer, Nørsett and Wanner, II.4: by how fast y changes, and its derivative.
  double first_length(double end) {
    const auto& first = stages_.front();
    const double size = norm(y_, y_, y_), speed = norm(first, y_, y_);
    const double guess = std::min(size < 1e-5 || speed < 1e-5 ? 1e-6 : 0.01 * size / speed, end - t_);
    for (std::size_t i = 0; i < y_.size(); ++i) next_[i] = y_[i] + guess * first[i];
    evaluate(t_ + guess, next_, stages_[1]);
    for (std::size_t i = 0; i < y_.size(); ++i) middle_[i] = stages_[1][i] - first[i];
    const double bend = norm(middle_, y_, y_) / guess;
    const double by_bend = speed <= 1e-15 && bend <= 1e-15
                               ? std::max(1e-6, guess * 1e-3)
                               : std::pow(0.01 / std::max(speed, bend), 1 / kOrder);
    return std::min({100 * guess, by_bend, end - t_});
  }

  // To next_, length_ ahead; false where no step is short enough.
  bool advance(double end) {
    bool was_rejected = false;
    while (summary_.steps + summary_.rejected < options_.most_steps) {
      const double least = 10 * (std::nextafter(t_, std::numeric_limits<double>::infinity()) - t_);
      if (was_rejected && length_ < least) return false;
      length_ = std::max(length_, least);
      arrival_ = std::min(t_ + length_, end);
      length_ = arrival_ - t_;
      if (!std::isfinite(length_)) return false;
      double error = try_step();
      if (std::isnan(error)) error = std::numeric_limits<double>::infinity();  // too far: perhaps nearer
      if (error < 1) {
        const double factor =
            error == 0 ? kLongest : std::min(kLongest, kSafety * std::pow(error, -1 / kOrder));
        following_ = length_ * (was_rejected ? std::min(1.0, factor) : factor);
        ++summary_.steps;
        return true;
      }
      length_ *= std::max(kShortest, kSafety * std::pow(error, -1 / kOrder));
      was_rejected = true;
      ++summary_.rejected;
    }
    return false;
  }

  // The error of a step of length_, 1 being as much as is allowed.
  double try_step() {
    for (std::size_t stage = 1; stage < kStages; ++stage) {
      auto& at = stage + 1 == kStages ? next_ : middle_;
      combine(kWeights[stage], stage, at);
      for (std::size_t i = 0; i < at.size(); ++i) at[i] = y_[i] + length_ * at[i];
      evaluate(t_ + kTimes[stage] * length_, at, stages_[stage]);
    }
    combine(kError, kStages, middle_);
    for (double& value : middle_) value *= length_;
    return norm(middle_, y_, next_);
  }

  template <std::size_t N>
  void combine(const std::array<double, N>& weights, std::size_t count, std::vector<double>& sum) const {
    std::ranges::fill(sum, 0.0);
    for (std::size_t s = 0; s < count; ++s) {
      if (weights[s] == 0) continue;
      const double weight = weights[s];
      const double* stage = stages_[s].data();
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += weight * stage[i];
    }
  }

  void prepare_between() {
    for (std::size_t j = 0; j < kPowers; ++j) {
      std::array<double, kStages> weights{};
      for (std::size_t s = 0; s < kStages; ++s) weights[s] = kBetween[s][j];
      combine(weights, kStages, powers_[j]);
    }
  }

  std::span<const double> between(double t) {
    const double x = (t - t_) / length_;
    const double a = length_ * x, b = a * x, c = b * x, d = c * x;
    for (std::size_t i = 0; i < y_.size(); ++i)
      middle_[i] = y_[i] + (a * powers_[0][i] + b * powers_[1][i] + c * powers_[2][i] + d * powers_[3][i]);
    return middle_;
  }

  const OdeFunction& f_;
  std::span<double> y_;
  OdeOptions options_;
  double t_;
  double length_ = 0, arrival_ = 0, following_ = 0;  // of the step under way, and how long the next may be
  std::array<std::vector<double>, kStages> stages_;
  std::array<std::vector<double>, kPowers> powers_;
  std::vector<double> next_, middle_;
  OdeSummary summary_;
};

}  // namespace

void OdeOptions::validate() const {
  const auto refuse = [](const char* message) { throw Error(ErrorCode::invalid_argument, message); };
  if (!(relative > 0) || !(absolute > 0)) refuse("tolerances are above 0");
  if (most_steps == 0) refuse("a solution needs at least one step");
}

OdeSummary solve_ode(const OdeFunction& f, std::span<const double> times, std::span<double> y,
                     const OdeOptions& options, const OdeOutput& output) {
  options.validate();
  if (times.empty()) return {};
  if (!std::ranges::is_sorted(times)) throw Error(ErrorCode::invalid_argument, "times must ascend");
  return Solver(f, times.front(), y, options).solve(times, output);
}

}  // namespace dfrost
