#include "merge/transport_step.h"

#include <algorithm>
#include <cassert>
#include <cmath>

// Highway compiles this file once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "merge/transport_step.cc"
#include <hwy/foreach_target.h>
//
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace dfrost::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::CappedTag<double, DoubleMatrix::kPadding>;

// exp underflows to zero below −745.2. Clamping there keeps 0 · (−∞) out of the entropy.
constexpr double kLeastExponent = -746;

TransportStep transport_step(const DoubleMatrix& distances, double scale, const DoubleMatrix& mass_and_log,
                             DoubleMatrix& plan, std::span<double> column_mass) {
  const Doubles tag;
  using Vector = hn::Vec<Doubles>;
  const std::size_t prompts = plan.rows(), stride = plan.stride();
  const Vector minus_scale = hn::Set(tag, -scale), least = hn::Set(tag, kLeastExponent),
               one = hn::Set(tag, 1.0);
  const double* const all_distances = distances.row(0).data();
  double* const all_plan = plan.row(0).data();
  DoubleMatrix exponents(prompts, 2 * DoubleMatrix::kPadding);  // of one vector of rows: first x, then exp(x)
  double* const x = exponents.row(0).data();
  DoubleMatrix masses(prompts, DoubleMatrix::kPadding);
  Vector entropy = hn::Zero(tag), change = hn::Zero(tag);
  for (std::size_t a = 0; a < plan.cols(); a += hn::Lanes(tag)) {
    Vector nearest = hn::Load(tag, all_distances + a);
    for (std::size_t i = 1; i < prompts; ++i)
      nearest = hn::Min(nearest, hn::Load(tag, all_distances + i * stride + a));
    Vector sum = hn::Zero(tag);
    for (std::size_t i = 0; i < prompts; ++i) {
      const Vector excess = hn::Sub(hn::Load(tag, all_distances + i * stride + a), nearest);
      const Vector exponent = hn::Max(hn::Mul(excess, minus_scale), least);
      const Vector power = hn::Exp(tag, exponent);
      hn::Store(exponent, tag, x + i * exponents.stride());
      hn::Store(power, tag, x + i * exponents.stride() + DoubleMatrix::kPadding);
      sum = hn::Add(sum, power);
    }
    const Vector mass = hn::Load(tag, mass_and_log.row(0).data() + a);
    const Vector share = hn::Div(mass, sum);
    // log P = x + log mass − log sum.
    const Vector offset =
        hn::Sub(hn::Sub(hn::Load(tag, mass_and_log.row(1).data() + a), hn::Log(tag, sum)), one);
    for (std::size_t i = 0; i < prompts; ++i) {
      double* const cell = all_plan + i * stride + a;
      const Vector now = hn::Mul(share, hn::Load(tag, x + i * exponents.stride() + DoubleMatrix::kPadding));
      const Vector moved = hn::Sub(now, hn::Load(tag, cell));
      change = hn::MulAdd(moved, moved, change);
      entropy = hn::MulAdd(now, hn::Add(hn::Load(tag, x + i * exponents.stride()), offset), entropy);
      hn::Store(now, tag, cell);
      double* const total = masses.row(i).data();
      hn::Store(hn::Add(now, hn::Load(tag, total)), tag, total);
    }
  }
  for (std::size_t i = 0; i < prompts; ++i) {
    column_mass[i] = hn::GetLane(hn::SumOfLanes(tag, hn::Load(tag, masses.row(i).data())));
  }
  return {hn::GetLane(hn::SumOfLanes(tag, entropy)), hn::GetLane(hn::SumOfLanes(tag, change))};
}

double transport_cost(const DoubleMatrix& plan, const DoubleMatrix& distances) {
  const Doubles tag;
  auto sum = hn::Zero(tag);
  for (std::size_t i = 0; i < plan.rows(); ++i) {
    const double* const p = plan.row(i).data();
    const double* const d = distances.row(i).data();
    for (std::size_t a = 0; a < plan.cols(); a += hn::Lanes(tag)) {
      sum = hn::MulAdd(hn::Load(tag, p + a), hn::Load(tag, d + a), sum);
    }
  }
  return hn::GetLane(hn::SumOfLanes(tag, sum));
}

}  // namespace dfrost::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfrost {

HWY_EXPORT(transport_step);
HWY_EXPORT(transport_cost);

TransportStep transport_step(const DoubleMatrix& distances, double scale, const DoubleMatrix& mass_and_log,
                             DoubleMatrix& plan, std::span<double> column_mass) {
  assert(distances.stride() == plan.stride() && mass_and_log.stride() == plan.stride());
  return HWY_DYNAMIC_DISPATCH(transport_step)(distances, scale, mass_and_log, plan, column_mass);
}

double transport_cost(const DoubleMatrix& plan, const DoubleMatrix& distances) {
  return HWY_DYNAMIC_DISPATCH(transport_cost)(plan, distances);
}

TransportStep reference::transport_step(const DoubleMatrix& distances, double scale,
                                        const DoubleMatrix& mass_and_log, DoubleMatrix& plan,
                                        std::span<double> column_mass) {
  TransportStep step;
  std::fill(column_mass.begin(), column_mass.end(), 0.0);
  for (std::size_t a = 0; a < plan.cols(); ++a) {
    double nearest = distances(0, a), sum = 0;
    for (std::size_t i = 1; i < plan.rows(); ++i) nearest = std::min(nearest, distances(i, a));
    const auto exponent = [&](std::size_t i) {
      return std::max(-746.0, -scale * (distances(i, a) - nearest));
    };
    for (std::size_t i = 0; i < plan.rows(); ++i) sum += std::exp(exponent(i));
    for (std::size_t i = 0; i < plan.rows(); ++i) {
      const double now = mass_and_log(0, a) / sum * std::exp(exponent(i));
      step.squared_plan_change += (now - plan(i, a)) * (now - plan(i, a));
      step.entropy += now * (exponent(i) + mass_and_log(1, a) - std::log(sum) - 1);
      plan(i, a) = now;
      column_mass[i] += now;
    }
  }
  return step;
}

}  // namespace dfrost
#endif
