#include "data/resample.h"

// Highway compiles the rest of this file once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data/resample.cc"
#include <hwy/foreach_target.h>
// foreach_target.h must come first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace dfrost::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int32_t kHalf = std::int32_t{1} << (kWeightBits - 1);  // rounds the sum to nearest

// The channels of a pixel side by side in one vector (the fourth lane is the next pixel's red, overwritten by
// the next step); a vector of one lane takes them in turn.
void resample_columns(const std::uint8_t* row, const AxisTaps& columns, std::uint8_t* out) {
  const hn::CappedTag<std::int32_t, 4> wide;
  const hn::Rebind<std::uint8_t, decltype(wide)> narrow;
  const std::size_t taps = columns.taps;
  const std::int32_t* weights = columns.weight.data();
  for (std::size_t x = 0; x < columns.outputs(); ++x, weights += taps) {
    const std::uint8_t* in = row + 3 * columns.first[x];
    for (std::size_t channel = 0; channel < 3; channel += hn::Lanes(wide)) {
      auto sum = hn::Set(wide, kHalf);
      for (std::size_t t = 0; t < taps; ++t) {
        const auto bytes = hn::PromoteTo(wide, hn::LoadU(narrow, in + 3 * t + channel));
        sum = hn::Add(sum, hn::Mul(bytes, hn::Set(wide, weights[t])));
      }
      hn::StoreU(hn::DemoteTo(narrow, hn::ShiftRight<kWeightBits>(sum)), narrow, out + 3 * x + channel);
    }
  }
}

void resample_rows(std::span<const std::uint8_t* const> rows, const std::int32_t* weights, std::size_t bytes,
                   std::uint8_t* out) {
  const hn::CappedTag<std::int32_t, 16> wide;
  const hn::Rebind<std::uint8_t, decltype(wide)> narrow;
  const std::size_t lanes = hn::Lanes(wide);
  const std::size_t taps = rows.size();
  // Four vectors at a time: a weight is broadcast once for all four, and their sums do not wait for each
  // other.
  for (std::size_t i = 0; i < bytes; i += 4 * lanes) {
    auto sum0 = hn::Set(wide, kHalf);
    auto sum1 = sum0;
    auto sum2 = sum0;
    auto sum3 = sum0;
    for (std::size_t t = 0; t < taps; ++t) {
      const auto weight = hn::Set(wide, weights[t]);
      const std::uint8_t* in = rows[t] + i;
      sum0 = hn::Add(sum0, hn::Mul(hn::PromoteTo(wide, hn::LoadU(narrow, in)), weight));
      sum1 = hn::Add(sum1, hn::Mul(hn::PromoteTo(wide, hn::LoadU(narrow, in + lanes)), weight));
      sum2 = hn::Add(sum2, hn::Mul(hn::PromoteTo(wide, hn::LoadU(narrow, in + 2 * lanes)), weight));
      sum3 = hn::Add(sum3, hn::Mul(hn::PromoteTo(wide, hn::LoadU(narrow, in + 3 * lanes)), weight));
    }
    hn::StoreU(hn::DemoteTo(narrow, hn::ShiftRight<kWeightBits>(sum0)), narrow, out + i);
    hn::StoreU(hn::DemoteTo(narrow, hn::ShiftRight<kWeightBits>(sum1)), narrow, out + i + lanes);
    hn::StoreU(hn::DemoteTo(narrow, hn::ShiftRight<kWeightBits>(sum2)), narrow, out + i + 2 * lanes);
    hn::StoreU(hn::DemoteTo(narrow, hn::ShiftRight<kWeightBits>(sum3)), narrow, out + i + 3 * lanes);
  }
}

}  // namespace dfrost::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfrost {

HWY_EXPORT(resample_columns);
HWY_EXPORT(resample_rows);

void resample_columns(const std::uint8_t* row, const AxisTaps& columns, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(resample_columns)(row, columns, out);
}

void resample_rows(std::span<const std::uint8_t* const> rows, const std::int32_t* weights, std::size_t bytes,
                   std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(resample_rows)(rows, weights, bytes, out);
}

}  // namespace dfrost
#endif
