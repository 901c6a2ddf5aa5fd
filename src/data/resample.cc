#include "data/resample.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data/resample.cc"
#include <hwy/foreach_target.h>
// After foreach_target, as Highway asks.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace dfrost::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int32_t kHalf = std::int32_t{1} << (kWeightBits - 1);  // rounds the sum to nearest

void split_channels(const std::uint8_t* rgb, PlanarRows shape, std::uint8_t* planes) {
  const hn::CappedTag<std::uint8_t, 16> d;
  for (std::size_t x = 0; x < shape.pixels; x += hn::Lanes(d)) {
    hn::Vec<decltype(d)> red, green, blue;
    hn::LoadInterleaved3(d, rgb + 3 * x, red, green, blue);
    hn::StoreU(red, d, planes + x);
    hn::StoreU(green, d, planes + shape.stride() + x);
    hn::StoreU(blue, d, planes + 2 * shape.stride() + x);
  }
}

// The channels of a pixel side by side in one vector (the fourth lane is the next pixel's red, overwritten by
// the next step); a vector of one lane takes them in turn.
void resample_columns(const std::uint8_t* rgb, const AxisTaps& columns, std::uint8_t* scratch,
                      std::uint8_t* planes) {
  const hn::CappedTag<std::int32_t, 4> wide;
  const hn::Rebind<std::uint8_t, decltype(wide)> narrow;
  const std::size_t outputs = columns.outputs();
  const std::size_t taps = columns.taps;
  const std::int32_t* weights = columns.weight.data();
  for (std::size_t x = 0; x < outputs; ++x, weights += taps) {
    const std::uint8_t* in = rgb + std::size_t{3} * columns.first[x];
    for (std::size_t channel = 0; channel < 3; channel += hn::Lanes(wide)) {
      auto sum = hn::Set(wide, kHalf);
      for (std::size_t t = 0; t < taps; ++t) {
        const auto bytes = hn::PromoteTo(wide, hn::LoadU(narrow, in + 3 * t + channel));
        sum = hn::Add(sum, hn::Mul(bytes, hn::Set(wide, weights[t])));
      }
      hn::StoreU(hn::DemoteTo(narrow, hn::ShiftRight<kWeightBits>(sum)), narrow, scratch + 3 * x + channel);
    }
  }
  split_channels(scratch, {outputs}, planes);
}

// Division by a constant, correctly rounded. With a fused multiply-add the remainder of a first guess is
// exact, and one correction by it gives the rounded quotient (Markstein 1990): cheaper than the division
// instruction.
template <class D>
class Divisor {
 public:
  Divisor(D d, float value) : value_(hn::Set(d, value)), reciprocal_(hn::Set(d, 1.0f / value)) {}

  HWY_INLINE hn::Vec<D> divide(hn::Vec<D> dividend) const {
#if HWY_NATIVE_FMA
    const auto guess = hn::Mul(dividend, reciprocal_);
    const auto remainder = hn::NegMulAdd(guess, value_, dividend);
    return hn::MulAdd(remainder, reciprocal_, guess);
#else
    return hn::Div(dividend, value_);
#endif
  }

 private:
  hn::Vec<D> value_;
  hn::Vec<D> reciprocal_;
};

template <class D>
class Normaliser {
 public:
  Normaliser(D d, float mean, float std) : full_(d, 255.0f), mean_(hn::Set(d, mean)), std_(d, std) {}

  HWY_INLINE hn::Vec<D> normalise(hn::Vec<D> byte) const {
    return std_.divide(hn::Sub(full_.divide(byte), mean_));
  }

 private:
  Divisor<D> full_;
  hn::Vec<D> mean_;
  Divisor<D> std_;
};

// One vector of output pixels; `rows` point to the first of them in each input row.
template <class D>
HWY_INLINE void blend(const Normaliser<D>& normaliser, const std::uint8_t* const* rows, std::size_t offset,
                      const std::int32_t* weights, std::size_t taps, float* out) {
  const D d;
  const hn::RebindToSigned<D> wide;
  const hn::Rebind<std::uint8_t, D> narrow;
  auto sum = hn::Set(wide, kHalf);
  for (std::size_t t = 0; t < taps; ++t) {
    const auto bytes = hn::PromoteTo(wide, hn::LoadU(narrow, rows[t] + offset));
    sum = hn::Add(sum, hn::Mul(bytes, hn::Set(wide, weights[t])));
  }
  const auto rounded = hn::ShiftRight<kWeightBits>(sum);
  const auto byte = hn::Min(hn::Max(rounded, hn::Zero(wide)), hn::Set(wide, 255));
  hn::StoreU(normaliser.normalise(hn::ConvertTo(d, byte)), d, out);
}

// kTaps: the number of taps where it is known, so that the loop over them disappears; else 0.
template <std::size_t kTaps>
void blend_square(const RowWindow& window, const AxisTaps& rows, const Square& square,
                  const Normalisation& normalisation, float* out) {
  const hn::ScalableTag<float> full;
  const hn::CappedTag<float, 1> single;  // for the rest of a row that whole vectors do not fill
  const std::size_t lanes = hn::Lanes(full);
  const std::size_t taps = kTaps == 0 ? rows.taps : kTaps;
  const std::size_t size = square.size;
  for (std::size_t c = 0; c < 3; ++c) {
    const Normaliser many(full, normalisation.mean[c], normalisation.std[c]);
    const Normaliser one(single, normalisation.mean[c], normalisation.std[c]);
    const std::size_t offset = c * window.shape.stride() + square.left;
    for (std::size_t y = square.top; y < square.top + size; ++y, out += size) {
      const std::uint8_t* const* in = window.rows.data() + (rows.first[y] - window.first_row);
      const std::int32_t* weights = rows.weights_of(y);
      std::size_t x = 0;
      for (; x + lanes <= size; x += lanes) blend(many, in, offset + x, weights, taps, out + x);
      for (; x < size; ++x) blend(one, in, offset + x, weights, taps, out + x);
    }
  }
}

void resample_rows(const RowWindow& window, const AxisTaps& rows, const Square& square,
                   const Normalisation& normalisation, float* out) {
  switch (rows.taps) {
    case 2: return blend_square<2>(window, rows, square, normalisation, out);  // bilinear, enlarging
    case 4: return blend_square<4>(window, rows, square, normalisation, out);  // bicubic, enlarging
    default: return blend_square<0>(window, rows, square, normalisation, out);
  }
}

}  // namespace dfrost::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfrost {

HWY_EXPORT(resample_columns);
HWY_EXPORT(resample_rows);

void resample_columns(const std::uint8_t* rgb, const AxisTaps& columns, std::uint8_t* scratch,
                      std::uint8_t* planes) {
  HWY_DYNAMIC_DISPATCH(resample_columns)(rgb, columns, scratch, planes);
}

void resample_rows(const RowWindow& window, const AxisTaps& rows, const Square& square,
                   const Normalisation& normalisation, float* out) {
  HWY_DYNAMIC_DISPATCH(resample_rows)(window, rows, square, normalisation, out);
}

}  // namespace dfrost
#endif
