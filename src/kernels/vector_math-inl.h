// Functions of whole vectors that Highway does not have. Included once per SIMD target, inside
// foreach_target.
#if defined(DFROST_KERNELS_VECTOR_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DFROST_KERNELS_VECTOR_MATH_INL_H_
#undef DFROST_KERNELS_VECTOR_MATH_INL_H_
#else
#define DFROST_KERNELS_VECTOR_MATH_INL_H_
#endif

#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace dfrost::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// gelu(x) = x·Φ(x) and gelu'(x) = Φ(x) + x·φ(x), Φ the normal distribution: the exact GELU, not the tanh one.
// The tail Φ(-|x|) = ½ erfc(|x|/√2) is Abramowitz and Stegun's 7.1.26 (error ≤ 1.5e-7): its exp(-x²/2) is φ's
// too, so that one exponential gives both results.
template <class D, class V>
HWY_INLINE void Gelu(D d, V x, V& gelu, V& derivative) {
  const V magnitude = hn::Abs(x);
  const V bell = hn::Exp(d, hn::Mul(hn::Mul(x, x), hn::Set(d, -0.5f)));
  constexpr float kP = 0.3275911f * 0.70710678f;  // their p, for |x|/√2
  const V t = hn::Div(hn::Set(d, 1.0f), hn::MulAdd(magnitude, hn::Set(d, kP), hn::Set(d, 1.0f)));
  V poly = hn::Set(d, 1.061405429f);
  poly = hn::MulAdd(poly, t, hn::Set(d, -1.453152027f));
  poly = hn::MulAdd(poly, t, hn::Set(d, 1.421413741f));
  poly = hn::MulAdd(poly, t, hn::Set(d, -0.284496736f));
  poly = hn::MulAdd(poly, t, hn::Set(d, 0.254829592f));
  const V tail = hn::Mul(hn::Mul(poly, t), hn::Mul(bell, hn::Set(d, 0.5f)));
  const V phi = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(hn::Set(d, 1.0f), tail));
  gelu = hn::Mul(x, phi);
  derivative = hn::MulAdd(hn::Mul(x, bell), hn::Set(d, 0.39894228f), phi);
}

}  // namespace dfrost::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
