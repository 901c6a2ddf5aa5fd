#include "kernels/bf16_blocks.h"

#include "kernels/block_product.h"

#include <hwy/cache_control.h>

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

void finish_block(const float* block, const float* bias, bool accumulate, const BlockRows& rows,
                  const OutputBlock& out) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t r = rows.first; r < rows.end; ++r) {
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

void finish_block_to_rows(const float* block, const float* bias, const BlockRows& rows, Bf16* out,
                          std::size_t stride) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t r = rows.first; r < rows.end; ++r) {
    const float* const from = block + r * kPanelCols;
    for (std::size_t c = 0; c < kPanelCols; c += 2 * lanes) {
      const auto low = hn::Add(hn::Load(d, from + c), hn::LoadU(d, bias + c));
      const auto high = hn::Add(hn::Load(d, from + c + lanes), hn::LoadU(d, bias + c + lanes));
      store_bf16(low, high, out + r * stride + c);
    }
  }
}

// Row r of a column of tiles.
HWY_INLINE std::size_t row_offset(std::size_t r, std::size_t row_distance) {
  return r / kTileRows * row_distance + r % kTileRows * kTileDepth;
}

template <bool kDerivative>
HWY_INLINE void gelu_block(const float* block, const float* bias, const BlockRows& rows,
                           const TileColumn& out, const TileColumn& derivative) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  const GeluTable& table = gelu_table();
  for (std::size_t r = rows.first; r < rows.end; ++r) {
    const float* const from = block + r * kPanelCols;
    for (std::size_t c = 0; c < kPanelCols; c += 2 * lanes) {
      FloatVector low, high, low_slope, high_slope;
      gelu_for_bf16(d, hn::Add(hn::Load(d, from + c), hn::LoadU(d, bias + c)), table, low, low_slope);
      gelu_for_bf16(d, hn::Add(hn::Load(d, from + c + lanes), hn::LoadU(d, bias + c + lanes)), table, high,
                    high_slope);
      store_bf16(low, high, out.data + row_offset(r, out.row_distance) + c);
      if constexpr (kDerivative) {
        stream_bf16(low_slope, high_slope, derivative.data + row_offset(r, derivative.row_distance) + c);
      }
    }
  }
}

void finish_block_with_gelu(const float* block, const float* bias, const BlockRows& rows,
                            const TileColumn& out, const TileColumn& derivative) {
  if (derivative.data != nullptr) return gelu_block<true>(block, bias, rows, out, derivative);
  gelu_block<false>(block, bias, rows, out, derivative);
}

void finish_block_times(const float* block, const ConstTileColumn& factors, const BlockRows& rows,
                        const TileColumn& out) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t r = rows.first; r < rows.end; ++r) {
    const float* const from = block + r * kPanelCols;
    const Bf16* const factor = factors.data + row_offset(r, factors.row_distance);
    for (std::size_t c = 0; c < kPanelCols; c += 2 * lanes) {
      const auto low = hn::Mul(hn::Load(d, from + c), load_bf16(factor + c));
      const auto high = hn::Mul(hn::Load(d, from + c + lanes), load_bf16(factor + c + lanes));
      store_bf16(low, high, out.data + row_offset(r, out.row_distance) + c);
    }
  }
}

}  // namespace dfrost::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfrost {

HWY_EXPORT(finish_block);
HWY_EXPORT(finish_block_to_rows);
HWY_EXPORT(finish_block_with_gelu);
HWY_EXPORT(finish_block_times);

void finish_block(const float* block, const float* bias, bool accumulate, const BlockRows& rows,
                  const OutputBlock& out) {
  HWY_DYNAMIC_DISPATCH(finish_block)(block, bias, accumulate, rows, out);
}

void finish_block_to_rows(const float* block, const float* bias, const BlockRows& rows, Bf16* out,
                          std::size_t stride) {
  HWY_DYNAMIC_DISPATCH(finish_block_to_rows)(block, bias, rows, out, stride);
}

void finish_block_with_gelu(const float* block, const float* bias, const BlockRows& rows,
                            const TileColumn& out, const TileColumn& derivative) {
  HWY_DYNAMIC_DISPATCH(finish_block_with_gelu)(block, bias, rows, out, derivative);
}

void publish_streamed() { hwy::FlushStream(); }

void finish_block_times(const float* block, const ConstTileColumn& factors, const BlockRows& rows,
                        const TileColumn& out) {
  HWY_DYNAMIC_DISPATCH(finish_block_times)(block, factors, rows, out);
}

}  // namespace dfrost
#endif  // HWY_ONCE
