#include "kernels/bf16_blocks.h"

#include "kernels/tile.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/bf16_blocks.cc"
#include <hwy/foreach_target.h>
// After foreach_target, as Highway asks.
#include <hwy/highway.h>

#include "kernels/bf16-inl.h"
#include "kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dfrost::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void FinishBlock(const float* block, const float* bias, bool accumulate, const OutputBlock& out) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t r = 0; r < out.rows; ++r) {
    const float* const from = block + r * kPanelCols;
    float* const to = out.data + r * out.stride;
    std::size_t c = 0;
    for (; c + lanes <= out.cols; c += lanes) {
      FloatVector sum = hn::Add(hn::Load(d, from + c), hn::LoadU(d, bias + c));
      if (accumulate) sum = hn::Add(hn::LoadU(d, to + c), sum);
      hn::StoreU(sum, d, to + c);
    }
    for (; c < out.cols; ++c) to[c] = (accumulate ? to[c] : 0.0f) + (from[c] + bias[c]);
  }
}

void FinishBlockToRows(const float* block, const float* bias, std::size_t rows, Bf16* out,
                       std::size_t stride) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t r = 0; r < rows; ++r) {
    const float* const from = block + r * kPanelCols;
    for (std::size_t c = 0; c < kPanelCols; c += 2 * lanes) {
      const auto low = hn::Add(hn::Load(d, from + c), hn::LoadU(d, bias + c));
      const auto high = hn::Add(hn::Load(d, from + c + lanes), hn::LoadU(d, bias + c + lanes));
      StoreBf16(low, high, out + r * stride + c);
    }
  }
}

// Row r of a column of tiles.
HWY_INLINE std::size_t RowOffset(std::size_t r, std::size_t row_distance) {
  return r / kTileRows * row_distance + r % kTileRows * kTileDepth;
}

template <bool kDerivative>
HWY_INLINE void GeluBlock(const float* block, const float* bias, std::size_t row_tiles, const TileColumn& out,
                          const TileColumn& derivative) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t r = 0; r < row_tiles * kTileRows; ++r) {
    const float* const from = block + r * kPanelCols;
    for (std::size_t c = 0; c < kPanelCols; c += 2 * lanes) {
      FloatVector low, high, low_slope, high_slope;
      GeluForBf16(d, hn::Add(hn::Load(d, from + c), hn::LoadU(d, bias + c)), low, low_slope);
      GeluForBf16(d, hn::Add(hn::Load(d, from + c + lanes), hn::LoadU(d, bias + c + lanes)), high,
                  high_slope);
      StoreBf16(low, high, out.data + RowOffset(r, out.row_distance) + c);
      if constexpr (kDerivative) {
        StoreBf16(low_slope, high_slope, derivative.data + RowOffset(r, derivative.row_distance) + c);
      }
    }
  }
}

void FinishBlockWithGelu(const float* block, const float* bias, std::size_t row_tiles, const TileColumn& out,
                         const TileColumn& derivative) {
  if (derivative.data != nullptr) return GeluBlock<true>(block, bias, row_tiles, out, derivative);
  GeluBlock<false>(block, bias, row_tiles, out, derivative);
}

void FinishBlockTimes(const float* block, const ConstTileColumn& factors, std::size_t row_tiles,
                      const TileColumn& out) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t r = 0; r < row_tiles * kTileRows; ++r) {
    const float* const from = block + r * kPanelCols;
    const Bf16* const factor = factors.data + RowOffset(r, factors.row_distance);
    for (std::size_t c = 0; c < kPanelCols; c += 2 * lanes) {
      const auto low = hn::Mul(hn::Load(d, from + c), LoadBf16(factor + c));
      const auto high = hn::Mul(hn::Load(d, from + c + lanes), LoadBf16(factor + c + lanes));
      StoreBf16(low, high, out.data + RowOffset(r, out.row_distance) + c);
    }
  }
}

}  // namespace dfrost::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfrost {

HWY_EXPORT(FinishBlock);
HWY_EXPORT(FinishBlockToRows);
HWY_EXPORT(FinishBlockWithGelu);
HWY_EXPORT(FinishBlockTimes);

void finish_block(const float* block, const float* bias, bool accumulate, const OutputBlock& out) {
  HWY_DYNAMIC_DISPATCH(FinishBlock)(block, bias, accumulate, out);
}

void finish_block_to_rows(const float* block, const float* bias, std::size_t rows, Bf16* out,
                          std::size_t stride) {
  HWY_DYNAMIC_DISPATCH(FinishBlockToRows)(block, bias, rows, out, stride);
}

void finish_block_with_gelu(const float* block, const float* bias, std::size_t row_tiles,
                            const TileColumn& out, const TileColumn& derivative) {
  HWY_DYNAMIC_DISPATCH(FinishBlockWithGelu)(block, bias, row_tiles, out, derivative);
}

void finish_block_times(const float* block, const ConstTileColumn& factors, std::size_t row_tiles,
                        const TileColumn& out) {
  HWY_DYNAMIC_DISPATCH(FinishBlockTimes)(block, factors, row_tiles, out);
}

}  // namespace dfrost
#endif  // HWY_ONCE
