// Functions of whole vectors that Highway does not have. Included once per SIMD target, inside
// foreach_target.
#if defined(DFROST_KERNELS_VECTOR_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DFROST_KERNELS_VECTOR_MATH_INL_H_
#undef DFROST_KERNELS_VECTOR_MATH_INL_H_
#else
#define DFROST_KERNELS_VECTOR_MATH_INL_H_
#endif

#include <hwy/highway.h>

#include "kernels/gelu_table.h"
#include "kernels/row_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dfrost::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// e^x for x ≤ 0, relative error below 2e-7, exactly 1 at 0 and exactly 0 below -87 (where e^x leaves the
// normal numbers). Half the work of a general exponential, and all that softmax and GELU need.
template <class D, class V>
HWY_INLINE V exp_of_non_positive(D d, V x) {
  // x = n·ln 2 + r: adding 1.5·2²³ rounds to an integer and leaves it in the lowest bits.
  const V shifter = hn::Set(d, 12582912.0f);
  const V shifted = hn::MulAdd(x, hn::Set(d, 1.44269504f), shifter);
  const V n = hn::Sub(shifted, shifter);
  V r = hn::MulAdd(n, hn::Set(d, -0.693145752f), x);  // ln 2 in two parts: the first product is exact
  r = hn::MulAdd(n, hn::Set(d, -1.42860677e-6f), r);
  // e^r on |r| ≤ ½ ln 2: minimax of degree 6 (error 2e-9) whose first two coefficients are 1.
  V poly = hn::Set(d, 1.38367945e-3f);
  poly = hn::MulAdd(poly, r, hn::Set(d, 8.37485678e-3f));
  poly = hn::MulAdd(poly, r, hn::Set(d, 4.16682288e-2f));
  poly = hn::MulAdd(poly, r, hn::Set(d, 0.166664198f));
  poly = hn::MulAdd(poly, r, hn::Set(d, 0.499999911f));
  poly = hn::MulAdd(poly, r, hn::Set(d, 1.0f));
  poly = hn::MulAdd(poly, r, hn::Set(d, 1.0f));
  // 2ⁿ goes straight into the exponent.
  const hn::RebindToUnsigned<D> bits;
  const auto scaled = hn::Add(hn::BitCast(bits, poly), hn::ShiftLeft<23>(hn::BitCast(bits, shifted)));
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -87.0f)), hn::BitCast(d, scaled));
}

// gelu(x) = x·Φ(x) and gelu'(x) = Φ(x) + x·φ(x), Φ the normal distribution: the exact GELU, not the tanh one.
// The tail Φ(-|x|) = ½ erfc(|x|/√2) is Abramowitz and Stegun's 7.1.26 (error ≤ 1.5e-7) in t =
// 1/gelu_denominator(x): its exp(-x²/2) is φ's too, so that one exponential gives both results.
template <class D, class V>
HWY_INLINE V gelu_denominator(D d, V x) {
  constexpr float kP = 0.3275911f * 0.70710678f;  // their p, for |x|/√2
  return hn::MulAdd(hn::Abs(x), hn::Set(d, kP), hn::Set(d, 1.0f));
}

template <class D, class V>
HWY_INLINE void gelu_given_reciprocal(D d, V x, V t, V& gelu, V& derivative) {
  const V bell = exp_of_non_positive(d, hn::Mul(hn::Mul(x, x), hn::Set(d, -0.5f)));
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

template <class D, class V>
HWY_INLINE void gelu(D d, V x, V& gelu, V& derivative) {
  gelu_given_reciprocal(d, x, hn::Div(hn::Set(d, 1.0f), gelu_denominator(d, x)), gelu, derivative);
}

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL

// The cubic that each lane's piece has in `table`, at r.
HWY_INLINE __m512 cubic_of(const float (&table)[GeluTable::kCoefficients][GeluTable::kPieces], __m512i piece,
                           __m512 r) {
  const auto coefficient = [=, &table](std::size_t k) HWY_ATTR {
    return _mm512_permutex2var_ps(_mm512_load_ps(table[k]), piece, _mm512_load_ps(table[k] + 16));
  };
  __m512 sum = _mm512_fmadd_ps(coefficient(3), r, coefficient(2));
  sum = _mm512_fmadd_ps(sum, r, coefficient(1));
  return _mm512_fmadd_ps(sum, r, coefficient(0));
}

// The same for results that are rounded to bf16, from the table: a register pair holds 32 coefficients, and
// one instruction looks sixteen of them up.
HWY_INLINE void gelu_for_bf16(FloatTag, FloatVector x, const GeluTable& table, FloatVector& gelu,
                              FloatVector& derivative) {
  const __m512 zero = _mm512_setzero_ps(), shifter = _mm512_set1_ps(12582912.0f);
  const __m512 a = _mm512_min_ps(_mm512_abs_ps(x.raw), _mm512_set1_ps(GeluTable::kEnd));
  // As in exp_of_non_positive, the nearest piece's number ends up in the lowest bits.
  const __m512 scale = _mm512_set1_ps(GeluTable::kPiecesPerUnit);
  const __m512 shifted = _mm512_fmadd_ps(a, scale, shifter);
  const __m512 r = _mm512_fmsub_ps(a, scale, _mm512_sub_ps(shifted, shifter));
  const __m512i piece = _mm512_castps_si512(shifted);
  const __m512 tail = cubic_of(table.tail, piece, r), slope = cubic_of(table.slope, piece, r);
  // max gives its second operand where one is NaN: a NaN stays one.
  gelu.raw = _mm512_fnmadd_ps(a, tail, _mm512_max_ps(zero, x.raw));
  const __mmask16 positive = _mm512_cmp_ps_mask(x.raw, zero, _CMP_GE_OQ);
  derivative.raw = _mm512_mask_sub_ps(slope, positive, _mm512_set1_ps(1.0f), slope);
}

#else

// Without such an instruction: the formula, with the processor's estimate of the reciprocal after one Newton
// step, right to about 22 bits, where a division would take longer than all the rest.
template <class D, class V>
HWY_INLINE void gelu_for_bf16(D d, V x, const GeluTable&, V& gelu, V& derivative) {
  const V a = gelu_denominator(d, x);
  const V estimate = hn::ApproximateReciprocal(a);
  const V t = hn::Mul(estimate, hn::NegMulAdd(a, estimate, hn::Set(d, 2.0f)));
  gelu_given_reciprocal(d, x, t, gelu, derivative);
}

#endif

}  // namespace dfrost::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
