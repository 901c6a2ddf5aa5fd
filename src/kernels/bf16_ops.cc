#include "kernels/bf16_ops.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "kernels/bf16_blocks.h"
#include "kernels/bf16_gemm.h"
#include "kernels/bf16_pack.h"
#include "kernels/bf16_rows.h"

namespace dfrost {
namespace {

// A bias that can be read 32 at a time: absent or cut short, it goes on with zeros.
class PanelBias {
 public:
  explicit PanelBias(std::span<const float> bias) : bias_(bias) {
    const std::size_t whole = bias.size() / kPanelCols * kPanelCols;
    std::copy(bias.begin() + static_cast<std::ptrdiff_t>(whole), bias.end(), rest_.begin());
  }
  const float* panel(std::size_t index) const {
    return (index + 1) * kPanelCols <= bias_.size() ? bias_.data() + index * kPanelCols : rest_.data();
  }

 private:
  std::span<const float> bias_;
  std::array<float, kPanelCols> rest_{};
};

// Factors were written long ago and may be far away; fetched while the tiles work, they are there when those
// are done. Nothing else is fetched: misses that are under way take the places of the tiles' own.
void prefetch_tile(const Bf16* tile) {
  for (std::size_t line = 0; line < kTileRows; ++line) __builtin_prefetch(tile + line * kTileDepth);
}

template <class Matrix>
auto tile_column(Matrix& matrix, const BlockPlace& place) {
  using Column = std::conditional_t<std::is_const_v<Matrix>, ConstTileColumn, TileColumn>;
  return Column{matrix.tile(place.row_tile, place.panel), matrix.col_tiles() * kTileSize};
}

// Those of a block's rows that the matrix has: its last block may go on beyond its end.
template <class Matrix>
BlockRows rows_there(const BlockPlace& place, const BlockRows& rows, const Matrix& matrix) {
  return {rows.first, std::min(rows.end, matrix.rows() - place.row_tile * kTileRows)};
}

struct FinishToFloats {
  static constexpr bool kAccumulates = false;
  PanelBias bias;
  MatrixView<float> out;
  bool add;

  OutputBlock block_of(const BlockPlace& place) const {
    const std::size_t row = place.row_tile * kTileRows, col = place.panel * kPanelCols;
    return {out.data() + row * out.stride() + col, out.stride(), std::min(kPanelCols, out.cols() - col)};
  }
  void prefetch(const BlockPlace&) const {}
  void operator()(const float* block, const BlockPlace& place, bool, const BlockRows& rows) const {
    finish_block(block, bias.panel(place.panel), add, rows_there(place, rows, out), block_of(place));
  }
};

struct FinishToStrips {
  static constexpr bool kAccumulates = true;
  SumStrips& out;

  void prefetch(const BlockPlace&) const {}
  void operator()(const float* block, const BlockPlace& place, bool opens, const BlockRows& rows) const {
    static constexpr float kNoBias[kPanelCols] = {};
    finish_block(block, kNoBias, !opens, rows,
                 {out.at(place.row_tile * kTileRows, place.panel), kPanelCols, kPanelCols});
  }
};

struct FinishToRows {
  static constexpr bool kAccumulates = false;
  PanelBias bias;
  RowMatrix& out;

  void prefetch(const BlockPlace&) const {}
  void operator()(const float* block, const BlockPlace& place, bool, const BlockRows& rows) const {
    const std::size_t row = place.row_tile * kTileRows;
    finish_block_to_rows(block, bias.panel(place.panel), rows_there(place, rows, out),
                         out.row(row) + place.panel * kPanelCols, out.stride());
  }
};

struct FinishWithGelu {
  static constexpr bool kAccumulates = false;
  PanelBias bias;
  TiledMatrix& out;
  TiledMatrix* derivative;

  void prefetch(const BlockPlace&) const {}
  void operator()(const float* block, const BlockPlace& place, bool, const BlockRows& rows) const {
    finish_block_with_gelu(block, bias.panel(place.panel), rows, tile_column(out, place),
                           derivative != nullptr ? tile_column(*derivative, place) : TileColumn{});
  }
};

struct FinishTimes {
  static constexpr bool kAccumulates = false;
  const TiledMatrix& factors;
  TiledMatrix& out;

  void prefetch(const BlockPlace& place) const {
    for (std::size_t t = 0; t < place.row_tiles; ++t) {
      prefetch_tile(factors.tile(place.row_tile + t, place.panel));
    }
  }
  void operator()(const float* block, const BlockPlace& place, bool, const BlockRows& rows) const {
    finish_block_times(block, tile_column(factors, place), rows, tile_column(out, place));
  }
};

SumStrips& strips_of_this_thread(std::size_t rows, std::size_t cols) {
  thread_local SumStrips strips;
  strips.resize(rows, cols);
  return strips;
}

// The parts of a deep product meet in strips, and its rows are touched once.
void multiply_to_floats(const TiledMatrix& left, const PanelMatrix& right, const FinishToFloats& finish) {
  if (right.depth_tiles() <= kPartDepthTiles) return multiply(left, right, finish);
  SumStrips& sums = strips_of_this_thread(left.rows(), right.cols());
  multiply(left, right, FinishToStrips{sums});
  for (std::size_t row_tile = 0; row_tile < left.row_tiles(); ++row_tile) {
    for (std::size_t panel = 0; panel < right.panels(); ++panel) {
      finish(sums.at(row_tile * kTileRows, panel), {row_tile, 1, panel}, true, {0, kTileRows});
    }
  }
}

}  // namespace

Bf16Ops::Weights::Weights(MatrixView<const float> matrix) { fill(matrix); }

Bf16Ops::Weights::Weights(std::size_t outputs, std::size_t inputs, const WeightShelf& shelf) {
  if (shelf.memory == nullptr) {
    panels_.resize(inputs, outputs);
    return;
  }
  auto room = shelf.memory->room_for(shelf.name, PanelMatrix::bytes_of(inputs, outputs));
  is_filled_ = room.is_filled;
  panels_ = PanelMatrix(inputs, outputs, std::move(room.data));
}

void Bf16Ops::Weights::fill(MatrixView<const float> matrix) {
  assert(!is_filled_);
  pack_weights(matrix, panels_);
}

void Bf16Ops::normalize(MatrixView<const float> x, float epsilon, Operand& out,
                        std::span<float> inverse_std) {
  normalize_to_tiles(x, epsilon, out, inverse_std);
}

void Bf16Ops::normalize_backward(MatrixView<const float> d, const Operand& normalized,
                                 std::span<const float> inverse_std, MatrixView<float> dx) {
  normalize_backward_from_tiles(d, normalized, inverse_std, dx);
}

void Bf16Ops::pack(MatrixView<const float> x, Operand& out) {
  out.resize(x.rows(), x.cols());
  store_to_tiles(x, out, 0, 0);
}

void Bf16Ops::select_rows(const Operand& in, std::span<const std::size_t> rows, Operand& out) {
  select_tile_rows(in, rows, out);
}

void Bf16Ops::product(const Operand& a, const Weights& w, std::span<const float> bias,
                      MatrixView<float> out) {
  assert(out.rows() == a.rows() && out.cols() == w.outputs());
  multiply_to_floats(a, w.panels(), {PanelBias(bias), out, false});
}

void Bf16Ops::product_add(const Operand& a, const Weights& w, std::span<const float> bias,
                          MatrixView<float> out) {
  assert(out.rows() == a.rows() && out.cols() == w.outputs());
  multiply_to_floats(a, w.panels(), {PanelBias(bias), out, true});
}

void Bf16Ops::product_normalize_backward(const Operand& a, const Weights& w, const Operand& normalized,
                                         std::span<const float> inverse_std, MatrixView<float> dx) {
  assert(dx.rows() == a.rows() && dx.cols() == w.outputs());
  SumStrips& d = strips_of_this_thread(a.rows(), w.outputs());
  multiply(a, w.panels(), FinishToStrips{d});
  normalize_backward_from_tiles(d, normalized, inverse_std, dx);
}

void Bf16Ops::product_rows(const Operand& a, const Weights& w, std::span<const float> bias, Rows& out) {
  out.resize(a.rows(), w.outputs());
  multiply(a, w.panels(), FinishToRows{PanelBias(bias), out});
}

void Bf16Ops::product_gelu(const Operand& a, const Weights& w, std::span<const float> bias, Operand& out,
                           Factors* derivative) {
  out.resize(a.rows(), w.outputs());
  if (derivative != nullptr) derivative->resize(a.rows(), w.outputs());
  multiply(a, w.panels(), FinishWithGelu{PanelBias(bias), out, derivative});
  publish_streamed();
}

void Bf16Ops::product_times(const Operand& a, const Weights& w, const Factors& factors, Operand& out) {
  assert(factors.rows() == a.rows() && factors.cols() == w.outputs());
  out.resize(a.rows(), w.outputs());
  multiply(a, w.panels(), FinishTimes{factors, out});
}

}  // namespace dfrost
