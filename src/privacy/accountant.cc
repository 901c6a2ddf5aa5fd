#include "privacy/accountant.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "dfrost/error.h"

namespace dfrost {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMostNoise = 1e6;

// log(eᵃ + eᵇ).
double log_add(double a, double b) {
  const double large = std::max(a, b), small = std::min(a, b);
  return small == -kInfinity ? large : large + std::log1p(std::exp(small - large));
}

// log(eᵃ − eᵇ), a ≥ b; what rounding leaves below zero is nothing.
double log_subtract(double a, double b) {
  if (b == -kInfinity) return a;
  return b >= a ? -kInfinity : a + std::log1p(-std::exp(b - a));
}

// Beyond 25 erfc() underflows before its logarithm is needed: there by its asymptotic series.
double log_erfc(double x) {
  if (x < 25) return std::log(std::erfc(x));
  const double t = 1 / (2 * x * x);
  return -x * x - std::log(x * std::sqrt(std::numbers::pi)) + std::log1p(-t * (1 - 3 * t * (1 - 5 * t)));
}

// lgamma() of the C library keeps a sign in a global.
double log_gamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}

// Σ C(α, k) (1 − q)^(α−k) q^k e^((k² − k)/2σ²).
double log_moment_whole(double q, double sigma, std::size_t order) {
  const auto alpha = static_cast<double>(order);
  double sum = -kInfinity;
  for (std::size_t i = 0; i <= order; ++i) {
    const auto k = static_cast<double>(i);
    const double binomial = log_gamma(alpha + 1) - log_gamma(k + 1) - log_gamma(alpha - k + 1);
    sum = log_add(
        sum, binomial + (alpha - k) * std::log1p(-q) + k * std::log(q) + (k * k - k) / (2 * sigma * sigma));
  }
  return sum;
}

// The integral cut in two at z, where both parts of the mixture are as likely, and the binomial series of
// each taken term by term (Mironov, Talwar and Zhang, section 3.3).
double log_moment(double q, double sigma, double order) {
  const double z = sigma * sigma * std::log(1 / q - 1) + 0.5;
  double positive = -kInfinity, negative = -kInfinity, log_binomial = 0;
  bool is_positive = true;
  for (std::size_t i = 0;; ++i) {
    const auto k = static_cast<double>(i), rest = order - k;
    const auto part = [&](double power, double other, double sign) {
      return log_binomial + power * std::log(q) + other * std::log1p(-q) +
             (power * power - power) / (2 * sigma * sigma) + std::log(0.5) +
             log_erfc(sign * (power - z) / (std::numbers::sqrt2 * sigma));
    };
    const double term = log_add(part(k, rest, 1), part(rest, k, -1));
    auto& sum = is_positive ? positive : negative;
    sum = log_add(sum, term);
    // The signs alternate from there on: less than this is left.
    if (k > order && !(term >= positive - 36)) break;
    log_binomial += std::log(std::abs(rest)) - std::log(k + 1);
    is_positive = is_positive == (rest > 0);
  }
  return log_subtract(positive, negative);
}

double epsilon_at(double order, double divergence, double delta, DivergenceToEpsilon by) {
  const double loose = divergence + std::log(1 / delta) / (order - 1);
  if (by == DivergenceToEpsilon::mironov) return loose;
  return loose + std::log1p(-1 / order) - std::log(order) / (order - 1);
}

}  // namespace

double gaussian_divergence(double sampling_rate, double noise, double order) {
  if (sampling_rate == 0) return 0;
  if (noise == 0) return kInfinity;
  if (sampling_rate == 1) return order / (2 * noise * noise);
  const double whole = std::round(order);
  const double moment = whole == order
                            ? log_moment_whole(sampling_rate, noise, static_cast<std::size_t>(whole))
                            : log_moment(sampling_rate, noise, order);
  // What cannot be computed promises nothing.
  return std::isfinite(moment) ? std::max(0.0, moment) / (order - 1) : kInfinity;
}

double epsilon_of(std::span<const double> orders, std::span<const double> divergences, double delta,
                  DivergenceToEpsilon by) {
  double least = kInfinity;
  for (std::size_t i = 0; i < orders.size(); ++i)
    least = std::min(least, epsilon_at(orders[i], divergences[i], delta, by));
  return std::max(0.0, least);
}

std::span<const double> usual_orders() {
  static const std::vector<double> orders = [] {
    std::vector<double> all;
    for (int tenths = 11; tenths < 110; ++tenths) all.push_back(tenths / 10.0);
    for (int order = 11; order <= 64; ++order) all.push_back(order);
    for (const double order : {72.0, 80.0, 96.0, 128.0, 192.0, 256.0, 512.0, 1024.0}) all.push_back(order);
    return all;
  }();
  return orders;
}

double epsilon_of(std::span<const GaussianSteps> steps, double delta) {
  const auto orders = usual_orders();
  std::vector<double> divergences(orders.size(), 0.0);
  bool any = false;
  for (const auto& [rate, noise, count] : steps) {
    if (!(count > 0)) continue;
    any = true;
    for (std::size_t i = 0; i < orders.size(); ++i)
      divergences[i] += count * gaussian_divergence(rate, noise, orders[i]);
  }
  return any ? epsilon_of(orders, divergences, delta) : 0;  // who has told nothing has spent nothing
}

double noise_for(double epsilon, double delta, double sampling_rate, double count) {
  const auto spent = [&](double noise) {
    const GaussianSteps steps{sampling_rate, noise, count};
    return epsilon_of(std::span(&steps, 1), delta);
  };
  double low = 0, high = 1;
  while (spent(high) > epsilon) {
    low = high;
    high *= 2;
    if (high > kMostNoise)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("no noise gives ε = {} at δ = {} over {} steps", epsilon, delta, count),
                  "a larger privacy.target_epsilon or privacy.delta, or fewer rounds")
          .at("privacy.target_epsilon");
  }
  while (high - low > 1e-4 * high) {
    const double middle = (low + high) / 2;
    (spent(middle) > epsilon ? low : high) = middle;
  }
  return high;
}

}  // namespace dfrost
