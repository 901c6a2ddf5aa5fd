#include "kernels/bf16_gemm.h"

namespace dfrost {

Blocking choose_blocking(std::size_t row_tiles, std::size_t depth_tiles, bool may_split_depth) {
  // A tile is 1 KiB. Half of a 2 MiB second-level cache for the left factor leaves room for the panels under
  // way and for what `finish` reads and writes. Deeper than 32 tiles (k = 1024), a slab that is cut along k
  // instead of along the rows reads the right factor fewer times.
  constexpr std::size_t kSlabTiles = 1024;
  const auto even_parts = [](std::size_t count, std::size_t limit) {
    return tiles_for(count, tiles_for(count, limit));
  };
  const std::size_t depth = may_split_depth ? even_parts(depth_tiles, kPartDepthTiles) : depth_tiles;
  const std::size_t rows = even_parts(row_tiles, std::max<std::size_t>(2, kSlabTiles / depth));
  return {rows + rows % 2, depth};  // blocks take rows of tiles in twos
}

Matrix<double> multiply_slowly(const TiledMatrix& left, const PanelMatrix& right) {
  Matrix<double> out(left.rows(), right.cols());
  for (std::size_t r = 0; r < left.rows(); ++r) {
    for (std::size_t c = 0; c < right.cols(); ++c) {
      double sum = 0;
      for (std::size_t k = 0; k < left.cols(); ++k) {
        sum += static_cast<double>(left.at(r, k)) * static_cast<double>(right.at(k, c));
      }
      out.row(r)[c] = sum;
    }
  }
  return out;
}

}  // namespace dfrost
