// Attention on the tile unit, head by head and 32 queries at a time, so that a strip of scores stays in the
// nearest cache. Left factors are read from the rows of qkv where they lie, unless a head's size is no
// multiple of 32; right factors are packed per head.
#include <algorithm>
#include <cassert>

#include "kernels/bf16_ops.h"
#include "kernels/bf16_pack.h"
#include "kernels/bf16_rows.h"
#include "kernels/block_product.h"
#include "kernels/gated_rows.h"

namespace dfrost {
namespace {

// The square matrices of one head: tokens × tokens, in tiles, padded to whole blocks of 32×32.
struct Square {
  explicit Square(std::size_t token_count)
      : tokens(token_count),
        row_tiles(tiles_for(tokens, kTileRows)),
        blocks(tiles_for(tokens, kTileDepth)),
        size(2 * blocks * blocks * kTileSize) {}

  std::size_t tokens;
  std::size_t row_tiles;  // that hold tokens
  std::size_t blocks;     // of 32
  std::size_t size;       // numbers

  // Calls body(first row of tiles, how many) for one or two rows of tiles at a time.
  template <class Body>
  void for_each_strip(const Body& body) const {
    for (std::size_t t = 0; t < row_tiles; t += 2) body(t, std::min<std::size_t>(2, row_tiles - t));
  }
  std::size_t rows_in_strip(std::size_t row_tile) const {
    return std::min(2 * kTileRows, tokens - row_tile * kTileRows);
  }
  std::size_t strip_offset(std::size_t row_tile) const { return row_tile * blocks * kTileSize; }
  std::size_t strip_size() const { return strip_offset(2); }
  AttentionTiles strip(std::size_t row_tile) const { return {2, blocks, rows_in_strip(row_tile), tokens}; }
};

// Room for one head, kept by the thread.
struct Scratch {
  PanelMatrix by_features;                   // a right factor summed over a head's features
  PanelMatrix queries, keys, values, d_out;  // right factors summed over tokens
  AlignedBuffer<float> scores;               // [32, 32·blocks]
  AlignedBuffer<float> strip;                // [32, head_size padded to 32]
  AlignedBuffer<Bf16> probabilities, probabilities_t, d_scores, d_scores_t;
  AlignedBuffer<Bf16> mixed;  // of gated attention: probabilities and positions, of a strip or of a head
  AlignedBuffer<Bf16> left;   // a left factor that had to be padded

  Scratch& fit(const Square& square, std::size_t head_size) {
    scores.resize(2 * kTileRows * square.blocks * kTileDepth);
    strip.resize(2 * kTileRows * tiles_for(head_size, kPanelCols) * kPanelCols);
    return *this;
  }
};

Scratch& scratch() {
  thread_local Scratch mine;
  return mine;
}

Bf16Rows head_rows(const RowMatrix& all, const AttentionShape& shape, std::size_t image, std::size_t column) {
  return {all.row(image * shape.tokens) + column, shape.tokens, shape.head_size, all.stride()};
}

// Rows as the tile unit may read them: whole tiles wide. Where a head does not fill its last tile, the
// columns after it are its neighbour's. They would meet zeros, but 0 × NaN is NaN; so the head is copied out,
// with zeros after it.
Bf16Rows fill_tiles(const Bf16Rows& x) {
  if (x.cols % kTileDepth == 0) return x;
  const std::size_t stride = tiles_for(x.cols, kTileDepth) * kTileDepth;
  auto& room = scratch().left;
  room.resize(tiles_for(x.rows, 2 * kTileRows) * 2 * kTileRows * stride);
  std::fill_n(room.data(), room.size(), Bf16{});
  for (std::size_t r = 0; r < x.rows; ++r)
    std::copy_n(x.data + r * x.stride, x.cols, room.data() + r * stride);
  return {room.data(), x.rows, x.cols, stride};
}

LeftTiles left_factor(const Bf16Rows& x, std::size_t row_tile) {
  const std::size_t row_bytes = x.stride * sizeof(Bf16);
  return {x.data + row_tile * kTileRows * x.stride, row_bytes, kTileDepth * sizeof(Bf16),
          kTileRows * row_bytes};
}

LeftTiles left_factor(const Bf16* tiles, const Square& square, std::size_t row_tile) {
  constexpr std::size_t kTileBytes = kTileSize * sizeof(Bf16);
  return {tiles + square.strip_offset(row_tile), kTileDepth * sizeof(Bf16), kTileBytes,
          square.blocks * kTileBytes};
}

// out [16·row_tiles, 32·panels] = left·right.
void multiply_strip(const LeftTiles& left, const PanelMatrix& right, std::size_t row_tiles, float* out) {
  const std::size_t stride = right.panels() * kPanelCols;
  for (std::size_t p = 0; p < right.panels(); ++p) {
    multiply_block(left, right.panel(p), right.depth_tiles(), row_tiles, out + p * kPanelCols, stride);
  }
}

// The same, rounded into the rows of `strip_row` on and the columns from `col` on.
void multiply_strip_to_tiles(const LeftTiles& left, const PanelMatrix& right, std::size_t row_tiles,
                             std::size_t rows, TiledMatrix& out, std::size_t row, std::size_t col) {
  float* const strip = scratch().strip.data();
  multiply_strip(left, right, row_tiles, strip);
  store_to_tiles({strip, rows, right.cols(), right.panels() * kPanelCols}, out, row, col);
}

// One head of one image, forward; with gates, or with none.
void attend(const RowMatrix& qkv, const Bf16Ops::Gates* gates, const AttentionShape& shape, std::size_t image,
            std::size_t head, Bf16* probabilities, TiledMatrix& out) {
  const Square square(shape.tokens);
  Scratch& room = scratch().fit(square, shape.head_size);
  const std::size_t column = head * shape.head_size, width = shape.width();
  const Bf16Rows queries = fill_tiles(head_rows(qkv, shape, image, column));
  pack_transposed(head_rows(qkv, shape, image, width + column), room.by_features);
  pack_panels(head_rows(qkv, shape, image, 2 * width + column), room.values);
  square.for_each_strip([&](std::size_t row_tile, std::size_t row_tiles) {
    Bf16* const p = probabilities + square.strip_offset(row_tile);
    multiply_strip(left_factor(queries, row_tile), room.by_features, row_tiles, room.scores.data());
    softmax_to_tiles(room.scores.data(), square.strip(row_tile), shape.scale(), p);
    const Bf16* attended_by = p;
    if (gates != nullptr) {
      room.mixed.resize(square.strip_size());
      mix_in_positions_to_tiles(p, square.strip(row_tile), *gates, head, row_tile * kTileRows,
                                room.mixed.data());
      attended_by = room.mixed.data();
    }
    multiply_strip_to_tiles(left_factor(attended_by, square, 0), room.values, row_tiles,
                            square.rows_in_strip(row_tile), out, image * shape.tokens + row_tile * kTileRows,
                            column);
  });
}

// One head of one image, backward: from d_out and the probabilities to the head's columns of d_qkv.
void attend_backward(const RowMatrix& qkv, const Bf16Ops::Gates* gates, const Bf16* probabilities,
                     const RowMatrix& d_out, const AttentionShape& shape, std::size_t image, std::size_t head,
                     TiledMatrix& d_qkv) {
  const Square square(shape.tokens);
  Scratch& room = scratch().fit(square, shape.head_size);
  const std::size_t column = head * shape.head_size, width = shape.width();
  const Bf16Rows d = head_rows(d_out, shape, image, column);
  pack_transposed(head_rows(qkv, shape, image, 2 * width + column), room.by_features);
  pack_panels(head_rows(qkv, shape, image, column), room.queries);
  pack_panels(head_rows(qkv, shape, image, width + column), room.keys);
  pack_panels(d, room.d_out);
  const Bf16Rows padded_d = fill_tiles(d);
  room.d_scores.resize(square.size);
  room.d_scores_t.resize(square.size);
  room.probabilities_t.resize(square.size);
  if (gates != nullptr) room.mixed.resize(square.size);
  const auto store = [&](const LeftTiles& left, const PanelMatrix& right, std::size_t row_tile,
                         std::size_t row_tiles, std::size_t col) {
    multiply_strip_to_tiles(left, right, row_tiles, square.rows_in_strip(row_tile), d_qkv,
                            image * shape.tokens + row_tile * kTileRows, col);
  };
  square.for_each_strip([&](std::size_t row_tile, std::size_t row_tiles) {
    const std::size_t offset = square.strip_offset(row_tile);
    multiply_strip(left_factor(padded_d, row_tile), room.by_features, row_tiles, room.scores.data());
    if (gates != nullptr) {
      const AttentionTiles strip = square.strip(row_tile);
      const std::size_t token = row_tile * kTileRows;
      mix_in_positions_to_tiles(probabilities + offset, strip, *gates, head, token,
                                room.mixed.data() + offset);
      through_gate(strip, *gates, head, token, room.scores.data());
    }
    softmax_backward_to_tiles(room.scores.data(), probabilities + offset, square.strip(row_tile),
                              shape.scale(), room.d_scores.data() + offset);
    store(left_factor(room.d_scores.data(), square, row_tile), room.keys, row_tile, row_tiles, column);
  });
  transpose_tiles(gates != nullptr ? room.mixed.data() : probabilities, square.blocks,
                  room.probabilities_t.data());
  transpose_tiles(room.d_scores.data(), square.blocks, room.d_scores_t.data());
  square.for_each_strip([&](std::size_t row_tile, std::size_t row_tiles) {
    const auto d_scores_t = left_factor(room.d_scores_t.data(), square, row_tile);
    const auto probabilities_t = left_factor(room.probabilities_t.data(), square, row_tile);
    store(d_scores_t, room.queries, row_tile, row_tiles, width + column);
    store(probabilities_t, room.d_out, row_tile, row_tiles, 2 * width + column);
  });
}

void attend_all(const RowMatrix& qkv, const Bf16Ops::Gates* gates, const AttentionShape& shape,
                TiledMatrix& out, Bf16Ops::Probabilities* saved) {
  assert(qkv.rows() == shape.rows() && qkv.cols() == 3 * shape.width());
  const BlockSession session;
  const std::size_t size = Square(shape.tokens).size;
  out.resize(shape.rows(), shape.width());
  // Without somebody to keep them, one head's probabilities are overwritten by the next.
  Bf16Ops::Probabilities& all = saved != nullptr ? *saved : scratch().probabilities;
  all.resize(saved != nullptr ? shape.images * shape.heads * size : size);
  for (std::size_t image = 0; image < shape.images; ++image) {
    for (std::size_t head = 0; head < shape.heads; ++head) {
      const std::size_t index = saved != nullptr ? image * shape.heads + head : 0;
      attend(qkv, gates, shape, image, head, all.data() + index * size, out);
    }
  }
}

void attend_backward_all(const RowMatrix& qkv, const Bf16Ops::Gates* gates,
                         const Bf16Ops::Probabilities& saved, const RowMatrix& d_out,
                         const AttentionShape& shape, TiledMatrix& d_qkv) {
  const std::size_t size = Square(shape.tokens).size;
  assert(qkv.rows() == shape.rows() && d_out.rows() == shape.rows() && d_out.cols() == shape.width());
  assert(saved.size() == shape.images * shape.heads * size);
  const BlockSession session;
  d_qkv.resize(shape.rows(), 3 * shape.width());
  for (std::size_t image = 0; image < shape.images; ++image) {
    for (std::size_t head = 0; head < shape.heads; ++head) {
      const std::size_t index = image * shape.heads + head;
      attend_backward(qkv, gates, saved.data() + index * size, d_out, shape, image, head, d_qkv);
    }
  }
}

}  // namespace

void Bf16Ops::attention(const Rows& qkv, const AttentionShape& shape, Operand& out, Probabilities* saved) {
  attend_all(qkv, nullptr, shape, out, saved);
}

void Bf16Ops::attention_backward(const Rows& qkv, const Probabilities& saved, const Rows& d_out,
                                 const AttentionShape& shape, Operand& d_qkv) {
  attend_backward_all(qkv, nullptr, saved, d_out, shape, d_qkv);
}

void Bf16Ops::gated_attention(const Rows& qkv, const Gates& gates, const AttentionShape& shape, Operand& out,
                              Probabilities* saved) {
  attend_all(qkv, &gates, shape, out, saved);
}

void Bf16Ops::gated_attention_backward(const Rows& qkv, const Gates& gates, const Probabilities& saved,
                                       const Rows& d_out, const AttentionShape& shape, Operand& d_qkv) {
  attend_backward_all(qkv, &gates, saved, d_out, shape, d_qkv);
}

}  // namespace dfrost
