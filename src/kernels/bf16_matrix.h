// The three ways a bf16 matrix lies in memory for the tile unit, and one for its sums. All are padded to
// whole tiles.
//   TiledMatrix   left factors: blocks of 16 rows × 32 columns, each contiguous (1 KiB), row of blocks by
//   row. RowMatrix     plain rows, for what is cut into heads (a tile can be loaded from them with a stride).
//   PanelMatrix   right factors: panels of 32 columns; see pack_weights for what a panel holds.
//   SumStrips     fp32 results by strips of 32 columns, in which a finished block is 4 KiB in one piece.
// resize() keeps the memory it has; the content is then unspecified, except that padding which a sum along a
// row could meet is zero.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "dfrost/matrix_view.h"
#include "kernels/bf16.h"
#include "kernels/block_product.h"
#include "kernels/buffer.h"

namespace dfrost {

inline constexpr std::size_t tiles_for(std::size_t count, std::size_t tile) {
  return (count + tile - 1) / tile;
}

class TiledMatrix {
 public:
  TiledMatrix() = default;
  TiledMatrix(std::size_t rows, std::size_t cols) { resize(rows, cols); }

  // Zeroes the last blocks where rows or columns do not fill them.
  void resize(std::size_t rows, std::size_t cols);

  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }
  std::size_t row_tiles() const { return tiles_for(rows_, kTileRows); }
  std::size_t col_tiles() const { return tiles_for(cols_, kTileDepth); }
  std::size_t bytes() const { return buffer_.bytes(); }

  Bf16* tile(std::size_t row_tile, std::size_t col_tile) {
    return buffer_.data() + (row_tile * col_tiles() + col_tile) * kTileSize;
  }
  const Bf16* tile(std::size_t row_tile, std::size_t col_tile) const {
    return buffer_.data() + (row_tile * col_tiles() + col_tile) * kTileSize;
  }
  // The 32 numbers that one row has in one block.
  Bf16* segment(std::size_t row, std::size_t col_tile) {
    return tile(row / kTileRows, col_tile) + row % kTileRows * kTileDepth;
  }
  const Bf16* segment(std::size_t row, std::size_t col_tile) const {
    return tile(row / kTileRows, col_tile) + row % kTileRows * kTileDepth;
  }
  float at(std::size_t row, std::size_t col) const {
    return to_float(segment(row, col / kTileDepth)[col % kTileDepth]);
  }

 private:
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
  AlignedBuffer<Bf16> buffer_;
};

class RowMatrix {
 public:
  RowMatrix() = default;
  RowMatrix(std::size_t rows, std::size_t cols) { resize(rows, cols); }

  // Zeroes what pads the last row's tile. There is room to load two tiles' rows from any row on.
  void resize(std::size_t rows, std::size_t cols);

  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }
  std::size_t stride() const { return tiles_for(cols_, kPanelCols) * kPanelCols; }
  std::size_t bytes() const { return buffer_.bytes(); }
  Bf16* row(std::size_t r) { return buffer_.data() + r * stride(); }
  const Bf16* row(std::size_t r) const { return buffer_.data() + r * stride(); }
  float at(std::size_t row_index, std::size_t col) const { return to_float(row(row_index)[col]); }

 private:
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
  AlignedBuffer<Bf16> buffer_;
};

class PanelMatrix {
 public:
  PanelMatrix() = default;
  PanelMatrix(std::size_t depth, std::size_t cols) { resize(depth, cols); }

  void resize(std::size_t depth, std::size_t cols);
  // In memory of another, of at least bytes_of(depth, cols); not to be resized.
  PanelMatrix(std::size_t depth, std::size_t cols, std::shared_ptr<std::byte> memory);
  static std::size_t bytes_of(std::size_t depth, std::size_t cols);

  std::size_t depth() const { return depth_; }
  std::size_t cols() const { return cols_; }
  std::size_t depth_tiles() const { return tiles_for(depth_, kTileDepth); }
  std::size_t panels() const { return tiles_for(cols_, kPanelCols); }
  std::size_t bytes() const { return lent_ ? bytes_of(depth_, cols_) : buffer_.bytes(); }
  Bf16* panel(std::size_t index) { return data() + index * depth_tiles() * kPanelStep; }
  const Bf16* panel(std::size_t index) const { return data() + index * depth_tiles() * kPanelStep; }
  float at(std::size_t k, std::size_t col) const;

 private:
  Bf16* data() { return lent_ ? reinterpret_cast<Bf16*>(lent_.get()) : buffer_.data(); }
  const Bf16* data() const { return lent_ ? reinterpret_cast<const Bf16*>(lent_.get()) : buffer_.data(); }

  std::size_t depth_ = 0;
  std::size_t cols_ = 0;
  AlignedBuffer<Bf16> buffer_;
  std::shared_ptr<std::byte> lent_;  // instead of the buffer
};

// What a product is stored in that is soon read again, row by row. Plain rows would scatter each block over
// 32 places: the processor sees no stream to fetch ahead, and the tiles wait behind its misses.
class SumStrips {
 public:
  void resize(std::size_t rows, std::size_t cols);
  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }
  // Where a row of a strip lies; the next row is 32 numbers further.
  float* at(std::size_t row, std::size_t strip) { return buffer_.data() + place(row, strip); }
  void copy_row(std::size_t row, std::span<float> out) const;  // out [cols]

 private:
  std::size_t place(std::size_t row, std::size_t strip) const {
    return (strip * padded_rows_ + row) * kPanelCols;
  }
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
  std::size_t padded_rows_ = 0;
  AlignedBuffer<float> buffer_;
};

}  // namespace dfrost
