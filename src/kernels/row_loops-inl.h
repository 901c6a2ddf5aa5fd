// Loops over a row of floats in whole vectors. Included once per SIMD target, inside foreach_target.
#if defined(DFROST_KERNELS_ROW_LOOPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DFROST_KERNELS_ROW_LOOPS_INL_H_
#undef DFROST_KERNELS_ROW_LOOPS_INL_H_
#else
#define DFROST_KERNELS_ROW_LOOPS_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace dfrost::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using FloatVector = hn::Vec<FloatTag>;

// Calls body(i, tag) for whole vectors and then once per element for the rest, with a one-lane tag.
template <class Body>
HWY_INLINE void for_each_vector(std::size_t n, const Body& body) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) body(i, d);
  for (; i < n; ++i) body(i, hn::CappedTag<float, 1>());
}

// Σ term(i) with four accumulators, so that additions do not wait for each other.
template <class Term>
HWY_INLINE float sum_of(std::size_t n, const Term& term) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  FloatVector s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  std::size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    s0 = hn::Add(s0, term(i, d));
    s1 = hn::Add(s1, term(i + lanes, d));
    s2 = hn::Add(s2, term(i + 2 * lanes, d));
    s3 = hn::Add(s3, term(i + 3 * lanes, d));
  }
  for (; i + lanes <= n; i += lanes) s0 = hn::Add(s0, term(i, d));
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  for (; i < n; ++i) sum += hn::GetLane(term(i, hn::CappedTag<float, 1>()));
  return sum;
}

// What layer norm takes from a row and multiplies it by.
struct RowMoments {
  float mean, inverse_std;
};

HWY_INLINE RowMoments row_moments(const float* x, float epsilon, std::size_t n) {
  const float count = static_cast<float>(n);
  const float mean = sum_of(n, [=](std::size_t i, auto d) HWY_ATTR { return hn::LoadU(d, x + i); }) / count;
  const auto squared_distance = [=](std::size_t i, auto d) HWY_ATTR {
    const auto centred = hn::Sub(hn::LoadU(d, x + i), hn::Set(d, mean));
    return hn::Mul(centred, centred);
  };
  return {mean, 1.0f / std::sqrt(sum_of(n, squared_distance) / count + epsilon)};
}

}  // namespace dfrost::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
