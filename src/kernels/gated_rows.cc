#include "kernels/gated_rows.h"

#include <algorithm>
#include <cassert>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gated_rows.cc"
#include <hwy/foreach_target.h>
// After foreach_target, as Highway asks.
#include <hwy/highway.h>

#include "kernels/bf16-inl.h"
#include "kernels/row_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dfrost::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void scale_row(float factor, const float* x, float* out, std::size_t n) {
  for_each_vector(n, [=](std::size_t i, auto d) HWY_ATTR {
    hn::StoreU(hn::Mul(hn::Set(d, factor), hn::LoadU(d, x + i)), d, out + i);
  });
}

void mix_row(float gate, const float* content, const float* positions, float* out, std::size_t n) {
  for_each_vector(n, [=](std::size_t i, auto d) HWY_ATTR {
    const auto by_content = hn::Mul(hn::Set(d, 1.0f - gate), hn::LoadU(d, content + i));
    hn::StoreU(hn::MulAdd(hn::Set(d, gate), hn::LoadU(d, positions + i), by_content), d, out + i);
  });
}

// Segments of 32 of one row, `distance` apart. `positions` is the row of the first patch's column, which is
// `prompts` columns further right, with zeros around it.
void mix_segments(float gate, const Bf16* content, const Bf16* positions, std::size_t prompts,
                  std::size_t patches, Bf16* out, std::size_t segments, std::size_t distance) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  const FloatVector share = hn::Set(d, 1.0f - gate), weight = hn::Set(d, gate);
  for (std::size_t s = 0; s < segments; ++s, content += distance, out += distance) {
    const std::size_t first = s * 32, end = first + 32;
    const bool has_patches = end > prompts && first < prompts + patches;
    // A segment of prompts alone has no positions; any zeros will do for it.
    const Bf16* const from = has_patches ? positions + first - prompts : positions - 32;
    for (std::size_t i = 0; i < 32; i += 2 * lanes) {
      const auto mixed = [=](std::size_t at) HWY_ATTR {
        return hn::MulAdd(weight, load_bf16(from + at), hn::Mul(share, load_bf16(content + at)));
      };
      store_bf16(mixed(i), mixed(i + lanes), out + i);
    }
  }
}

}  // namespace dfrost::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfrost {

HWY_EXPORT(scale_row);
HWY_EXPORT(mix_row);
HWY_EXPORT(mix_segments);

void mix_in_positions(MatrixView<const float> content, const Fp32Ops::Gates& gates, std::size_t head,
                      MatrixView<float> mixed) {
  assert(content.rows() >= gates.patches() && content.cols() == content.rows());
  const std::size_t prompts = content.rows() - gates.patches();
  const float gate = gates.gate(head);
  for (std::size_t t = 0; t < content.rows(); ++t) {
    const float* const from = content.row(t).data();
    float* const to = mixed.row(t).data();
    if (t < prompts) {
      std::copy_n(from, content.cols(), to);
      continue;
    }
    HWY_DYNAMIC_DISPATCH(scale_row)(1.0f - gate, from, to, prompts);
    HWY_DYNAMIC_DISPATCH(mix_row)
    (gate, from + prompts, gates.row(head, t - prompts), to + prompts, gates.patches());
  }
}

void through_gate(const Fp32Ops::Gates& gates, std::size_t head, MatrixView<float> d) {
  for (std::size_t t = d.rows() - gates.patches(); t < d.rows(); ++t) {
    float* const row = d.row(t).data();
    HWY_DYNAMIC_DISPATCH(scale_row)(1.0f - gates.gate(head), row, row, d.cols());
  }
}

void mix_in_positions_to_tiles(const Bf16* content, const AttentionTiles& shape, const Bf16Ops::Gates& gates,
                               std::size_t head, std::size_t first_token, Bf16* mixed) {
  assert(shape.cols >= gates.patches());
  const std::size_t prompts = shape.cols - gates.patches();
  const std::size_t row_of_tiles = shape.col_tiles * kTileSize;
  for (std::size_t r = 0; r < shape.row_tiles * kTileRows; ++r) {
    const std::size_t at = r / kTileRows * row_of_tiles + r % kTileRows * kTileDepth;
    if (r < shape.rows && first_token + r >= prompts) {
      HWY_DYNAMIC_DISPATCH(mix_segments)
      (gates.gate(head), content + at, gates.row(head, first_token + r - prompts), prompts, gates.patches(),
       mixed + at, shape.col_tiles, kTileSize);
      continue;
    }
    // Prompts, and the zeros below the last token.
    for (std::size_t c = 0; c < shape.col_tiles; ++c)
      std::copy_n(content + at + c * kTileSize, kTileDepth, mixed + at + c * kTileSize);
  }
}

void through_gate(const AttentionTiles& shape, const Bf16Ops::Gates& gates, std::size_t head,
                  std::size_t first_token, float* d) {
  const std::size_t prompts = shape.cols - gates.patches(), width = shape.col_tiles * kTileDepth;
  for (std::size_t r = 0; r < shape.rows; ++r) {
    if (first_token + r < prompts) continue;
    HWY_DYNAMIC_DISPATCH(scale_row)(1.0f - gates.gate(head), d + r * width, d + r * width, width);
  }
}

}  // namespace dfrost
#endif  // HWY_ONCE
