#include "kernels/bf16_matrix.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace dfrost {

void TiledMatrix::resize(std::size_t rows, std::size_t cols) {
  rows_ = rows;
  cols_ = cols;
  buffer_.resize(row_tiles() * col_tiles() * kTileSize);
  if (rows == 0 || cols == 0) return;
  if (rows % kTileRows != 0) std::fill_n(tile(row_tiles() - 1, 0), col_tiles() * kTileSize, Bf16{0});
  if (cols % kTileDepth == 0) return;
  for (std::size_t r = 0; r < row_tiles(); ++r) std::fill_n(tile(r, col_tiles() - 1), kTileSize, Bf16{0});
}

void RowMatrix::resize(std::size_t rows, std::size_t cols) {
  rows_ = rows;
  cols_ = cols;
  constexpr std::size_t kSlackRows = 2 * kTileRows;
  buffer_.resize((rows + kSlackRows) * stride());
  std::fill_n(row(rows), kSlackRows * stride(), Bf16{0});
}

PanelMatrix::PanelMatrix(std::size_t depth, std::size_t cols, std::shared_ptr<std::byte> memory)
    : depth_(depth), cols_(cols), lent_(std::move(memory)) {}

std::size_t PanelMatrix::bytes_of(std::size_t depth, std::size_t cols) {
  return tiles_for(cols, kPanelCols) * tiles_for(depth, kTileDepth) * kPanelStep * sizeof(Bf16);
}

void PanelMatrix::resize(std::size_t depth, std::size_t cols) {
  if (lent_) {
    assert(depth == depth_ && cols == cols_);
    return;
  }
  depth_ = depth;
  cols_ = cols;
  buffer_.resize(panels() * depth_tiles() * kPanelStep);
}

void SumStrips::resize(std::size_t rows, std::size_t cols) {
  rows_ = rows;
  cols_ = cols;
  padded_rows_ = tiles_for(rows, 2 * kTileRows) * 2 * kTileRows;
  buffer_.resize(tiles_for(cols, kPanelCols) * padded_rows_ * kPanelCols);
}

void SumStrips::copy_row(std::size_t row, std::span<float> out) const {
  assert(row < rows_ && out.size() == cols_);
  for (std::size_t c = 0; c < cols_; c += kPanelCols) {
    std::copy_n(buffer_.data() + place(row, c / kPanelCols), std::min(kPanelCols, cols_ - c), &out[c]);
  }
}

float PanelMatrix::at(std::size_t k, std::size_t col) const {
  const Bf16* step = panel(col / kPanelCols) + k / kTileDepth * kPanelStep;
  const std::size_t c = col % kPanelCols, pair = k % kTileDepth / 2;
  return to_float(step[c / 16 * kTileSize + pair * 32 + c % 16 * 2 + k % 2]);
}

}  // namespace dfrost
