// bf16 in whole vectors: rounding two float vectors into one of bf16 and widening back, as bf16.h does it for
// one number (Highway's conversion cuts instead of rounding). Where the processor rounds by itself, it takes
// subnormals for zero, as the tile unit does.
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

#if HWY_TARGET != HWY_SCALAR
HWY_INLINE hn::Vec<hn::ScalableTag<std::uint16_t>> pack_bf16(FloatVector low, FloatVector high) {
  const hn::ScalableTag<std::uint16_t> d;
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  if (kCpuRoundsToBf16) {
    // Highway's target does not have the instruction: one instead of fifteen.
    hn::Vec<hn::ScalableTag<std::uint16_t>> packed;
    asm("vcvtne2ps2bf16 %2, %1, %0" : "=v"(packed.raw) : "v"(high.raw), "v"(low.raw));
    return packed;
  }
#endif
  return hn::ConcatOdd(d, hn::BitCast(d, round_to_bf16(high)), hn::BitCast(d, round_to_bf16(low)));
}
#endif

// Stores 2·Lanes(FloatTag) numbers.
HWY_INLINE void store_bf16(FloatVector low, FloatVector high, Bf16* out) {
#if HWY_TARGET == HWY_SCALAR
  out[0] = to_bf16(hn::GetLane(low));
  out[1] = to_bf16(hn::GetLane(high));
#else
  hn::StoreU(pack_bf16(low, high), hn::ScalableTag<std::uint16_t>(), &out->bits);
#endif
}

// The same past the caches, for what is not read again soon; `out` is aligned to a vector.
HWY_INLINE void stream_bf16(FloatVector low, FloatVector high, Bf16* out) {
#if HWY_TARGET == HWY_SCALAR
  store_bf16(low, high, out);
#else
  hn::Stream(pack_bf16(low, high), hn::ScalableTag<std::uint16_t>(), &out->bits);
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
