// bf16 in whole vectors: rounding two float vectors into one of bf16 and widening back, as bf16.h does it for
// one number (hardware conversions flush subnormals, and Highway's cut instead of rounding).
// Included once per SIMD target, inside foreach_target.
#if defined(DFROST_KERNELS_BF16_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DFROST_KERNELS_BF16_INL_H_
#undef DFROST_KERNELS_BF16_INL_H_
#else
#define DFROST_KERNELS_BF16_INL_H_
#endif

#include <hwy/highway.h>

#include "kernels/bf16.h"
#include "kernels/row_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dfrost::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The rounded number in the upper half of each lane.
HWY_INLINE hn::Vec<hn::ScalableTag<std::uint32_t>> round_to_bf16(FloatVector x) {
  const hn::ScalableTag<std::uint32_t> d;
  const auto bits = hn::BitCast(d, x);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1u));
  const auto rounded = hn::Add(hn::Add(bits, hn::Set(d, 0x7fffu)), odd);
  const auto quiet = hn::Or(bits, hn::Set(d, 0x00400000u));
  return hn::IfThenElse(hn::RebindMask(d, hn::IsNaN(x)), quiet, rounded);
}

// Stores 2·Lanes(FloatTag) numbers.
HWY_INLINE void store_bf16(FloatVector low, FloatVector high, Bf16* out) {
#if HWY_TARGET == HWY_SCALAR
  out[0] = to_bf16(hn::GetLane(low));
  out[1] = to_bf16(hn::GetLane(high));
#else
  const hn::ScalableTag<std::uint16_t> d;
  const auto packed =
      hn::ConcatOdd(d, hn::BitCast(d, round_to_bf16(high)), hn::BitCast(d, round_to_bf16(low)));
  hn::StoreU(packed, d, &out->bits);
#endif
}

// Loads Lanes(FloatTag) numbers.
HWY_INLINE FloatVector load_bf16(const Bf16* in) {
  const FloatTag d;
  const hn::ScalableTag<std::uint32_t> wide;
  const hn::Rebind<std::uint16_t, FloatTag> narrow;
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(wide, hn::LoadU(narrow, &in->bits))));
}

}  // namespace dfrost::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
