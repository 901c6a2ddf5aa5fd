#include "kernels/bf16_rows.h"

#include "kernels/vector_ops.h"

#include <algorithm>
#include <cassert>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/bf16_rows.cc"
#include <hwy/foreach_target.h>
// After foreach_target, as Highway asks.
#include <hwy/highway.h>

#include "kernels/bf16-inl.h"
#include "kernels/row_loops-inl.h"
#include "kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dfrost::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Calls body(i) for i = 0, Lanes, 2·Lanes … below the 32 numbers of a segment.
template <class Body>
HWY_INLINE void for_each_vector_of_segment(const Body& body) {
  for (std::size_t i = 0; i < kTileDepth; i += hn::Lanes(FloatTag())) body(i);
}

// Rounds value(i), Lanes(FloatTag) numbers at a time, into the 32 of a segment.
template <class Value>
HWY_INLINE void store_segment(Bf16* out, const Value& value) {
  const std::size_t lanes = hn::Lanes(FloatTag());
  for (std::size_t i = 0; i < kTileDepth; i += 2 * lanes) store_bf16(value(i), value(i + lanes), out + i);
}

HWY_INLINE void store_segment(const float* from, Bf16* out) {
  store_segment(out, [=](std::size_t i) HWY_ATTR { return hn::LoadU(FloatTag(), from + i); });
}

void round_rows(MatrixView<const float> x, Bf16* out, std::size_t stride) {
  for (std::size_t r = 0; r < x.rows(); ++r) {
    const float* const from = x.row(r).data();
    std::size_t c = 0;
    for (; c + kTileDepth <= x.cols(); c += kTileDepth) store_segment(from + c, out + r * stride + c);
    for (; c < x.cols(); ++c) out[r * stride + c] = to_bf16(from[c]);
  }
}

void store_to_tiles(MatrixView<const float> x, TiledMatrix& out, std::size_t row, std::size_t col) {
  for (std::size_t r = 0; r < x.rows(); ++r) {
    const float* from = x.row(r).data();
    for (std::size_t c = col; c < col + x.cols();) {
      const std::size_t place = c % kTileDepth;
      const std::size_t count = std::min(kTileDepth - place, col + x.cols() - c);
      Bf16* const to = out.segment(row + r, c / kTileDepth) + place;
      if (count == kTileDepth) {
        store_segment(from, to);
      } else {
        std::transform(from, from + count, to, to_bf16);
      }
      from += count;
      c += count;
    }
  }
}

float normalize_to_tiles(const float* x, float epsilon, std::size_t n, TiledMatrix& out, std::size_t row) {
  const RowMoments moments = row_moments(x, epsilon, n);
  const float mean = moments.mean, inverse_std = moments.inverse_std;
  for (std::size_t c = 0; c < n / kTileDepth; ++c) {
    const float* const from = x + c * kTileDepth;
    store_segment(out.segment(row, c), [=](std::size_t i) HWY_ATTR {
      const FloatTag d;
      return hn::Mul(hn::Sub(hn::LoadU(d, from + i), hn::Set(d, mean)), hn::Set(d, inverse_std));
    });
  }
  for (std::size_t i = n / kTileDepth * kTileDepth; i < n; ++i) {
    out.segment(row, i / kTileDepth)[i % kTileDepth] = to_bf16((x[i] - mean) * inverse_std);
  }
  return inverse_std;
}

// Widened once into a row of floats, which stays in the nearest cache for the two passes that read it.
void widen_row(const TiledMatrix& in, std::size_t row, float* out) {
  for (std::size_t c = 0; c < in.col_tiles(); ++c) {
    const Bf16* const from = in.segment(row, c);
    for_each_vector_of_segment([=](std::size_t i) HWY_ATTR {
      hn::StoreU(load_bf16(from + i), FloatTag(), out + c * kTileDepth + i);
    });
  }
}

// Row r of segment c in a row of tiles.
template <class T>
HWY_INLINE T* segment_of(T* tiles, std::size_t col_tiles, std::size_t r, std::size_t c) {
  return tiles + (r / kTileRows * col_tiles + c) * kTileSize + r % kTileRows * kTileDepth;
}

HWY_INLINE void zero_rows_from(std::size_t first, const AttentionTiles& shape, Bf16* tiles) {
  for (std::size_t r = first; r < shape.row_tiles * kTileRows; ++r) {
    for (std::size_t c = 0; c < shape.col_tiles; ++c) {
      std::fill_n(segment_of(tiles, shape.col_tiles, r, c), kTileDepth, Bf16{0});
    }
  }
}

// The first `count` numbers of a row, vector by vector: body(i) where all of one counts, body(i, mask) where
// the row ends within it.
template <class Whole, class Part>
HWY_INLINE void for_each_that_counts(std::size_t count, const Whole& whole, const Part& part) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d), end = count / lanes * lanes;
  for (std::size_t i = 0; i < end; i += lanes) whole(i);
  if (end < count) part(end, hn::FirstN(d, count - end));
}

// A row becomes its exponentials, of which the first `cols` count and the others are zero; their sum in every
// lane. The end of the row is masked, not written over: a load right after a shorter store would wait for it.
HWY_INLINE FloatVector exponentials_of(float* row, std::size_t cols, std::size_t width, float scale) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  const FloatVector lowest = hn::Set(d, -1e30f);
  FloatVector largest = lowest;
  for_each_that_counts(
      cols, [&](std::size_t i) HWY_ATTR { largest = hn::Max(largest, hn::Load(d, row + i)); },
      [&](std::size_t i, auto mask)
          HWY_ATTR { largest = hn::Max(largest, hn::IfThenElse(mask, hn::Load(d, row + i), lowest)); });
  largest = hn::MaxOfLanes(d, largest);
  const auto exponential = [&](std::size_t i) HWY_ATTR {
    return exp_of_non_positive(d, hn::Mul(hn::Sub(hn::Load(d, row + i), largest), hn::Set(d, scale)));
  };
  FloatVector sum = hn::Zero(d);
  const auto put = [&](std::size_t i, FloatVector e) HWY_ATTR {
    sum = hn::Add(sum, e);
    hn::Store(e, d, row + i);
  };
  for_each_that_counts(
      cols, [&](std::size_t i) HWY_ATTR { put(i, exponential(i)); },
      [&](std::size_t i, auto mask) HWY_ATTR { put(i, hn::IfThenElseZero(mask, exponential(i))); });
  for (std::size_t i = (cols + lanes - 1) / lanes * lanes; i < width; i += lanes) {
    hn::Store(hn::Zero(d), d, row + i);
  }
  return hn::SumOfLanes(d, sum);
}

void softmax_to_tiles(float* scores, const AttentionTiles& shape, float scale, Bf16* probabilities) {
  const FloatTag d;
  const std::size_t width = shape.col_tiles * kTileDepth;
  for (std::size_t r = 0; r < shape.rows; ++r) {
    float* const row = scores + r * width;
    const FloatVector inverse = hn::Div(hn::Set(d, 1.0f), exponentials_of(row, shape.cols, width, scale));
    for (std::size_t c = 0; c < shape.col_tiles; ++c) {
      const float* const from = row + c * kTileDepth;
      store_segment(segment_of(probabilities, shape.col_tiles, r, c),
                    [=](std::size_t i) HWY_ATTR { return hn::Mul(hn::LoadU(d, from + i), inverse); });
    }
  }
  zero_rows_from(shape.rows, shape, probabilities);
}

void softmax_backward_to_tiles(const float* g, const Bf16* probabilities, const AttentionTiles& shape,
                               float scale, Bf16* d_scores) {
  const FloatTag d;
  for (std::size_t r = 0; r < shape.rows; ++r) {
    const float* const row = g + r * shape.col_tiles * kTileDepth;
    FloatVector along_lanes = hn::Zero(d);
    for (std::size_t c = 0; c < shape.col_tiles; ++c) {
      const Bf16* const p = segment_of(probabilities, shape.col_tiles, r, c);
      for_each_vector_of_segment([&](std::size_t i) HWY_ATTR {
        along_lanes = hn::MulAdd(load_bf16(p + i), hn::LoadU(d, row + c * kTileDepth + i), along_lanes);
      });
    }
    const FloatVector along = hn::SumOfLanes(d, along_lanes);
    for (std::size_t c = 0; c < shape.col_tiles; ++c) {
      const Bf16* const p = segment_of(probabilities, shape.col_tiles, r, c);
      const float* const from = row + c * kTileDepth;
      store_segment(segment_of(d_scores, shape.col_tiles, r, c), [=](std::size_t i) HWY_ATTR {
        const auto scaled = hn::Mul(load_bf16(p + i), hn::Set(d, scale));
        return hn::Mul(scaled, hn::Sub(hn::LoadU(d, from + i), along));
      });
    }
  }
  zero_rows_from(shape.rows, shape, d_scores);
}

}  // namespace dfrost::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfrost {

HWY_EXPORT(round_rows);
HWY_EXPORT(store_to_tiles);
HWY_EXPORT(normalize_to_tiles);
HWY_EXPORT(widen_row);
HWY_EXPORT(softmax_to_tiles);
HWY_EXPORT(softmax_backward_to_tiles);

void round_rows(MatrixView<const float> x, Bf16* out, std::size_t stride) {
  HWY_DYNAMIC_DISPATCH(round_rows)(x, out, stride);
}

void store_to_tiles(MatrixView<const float> x, TiledMatrix& out, std::size_t row, std::size_t col) {
  assert(row + x.rows() <= out.rows() && col + x.cols() <= out.cols());
  HWY_DYNAMIC_DISPATCH(store_to_tiles)(x, out, row, col);
}

void normalize_to_tiles(MatrixView<const float> x, float epsilon, TiledMatrix& out,
                        std::span<float> inverse_std) {
  assert(inverse_std.size() >= x.rows());
  out.resize(x.rows(), x.cols());
  for (std::size_t r = 0; r < x.rows(); ++r) {
    inverse_std[r] = HWY_DYNAMIC_DISPATCH(normalize_to_tiles)(x.row(r).data(), epsilon, x.cols(), out, r);
  }
}

namespace {

// The gradient that comes back through row r, as it lies or copied into `room`.
MatrixView<const float> gradient_row(MatrixView<const float> d, std::size_t r, std::span<float>) {
  return d.rows_from(r, 1);
}
MatrixView<const float> gradient_row(const SumStrips& d, std::size_t r, std::span<float> room) {
  d.copy_row(r, room);
  return {room.data(), 1, room.size()};
}

template <class Gradient>
void normalize_backward_row_by_row(const Gradient& d, const TiledMatrix& normalized,
                                   std::span<const float> inverse_std, MatrixView<float> dx) {
  assert(d.rows() == normalized.rows() && d.cols() == normalized.cols() && inverse_std.size() >= d.rows());
  thread_local AlignedBuffer<float> widened, room;
  widened.resize(normalized.col_tiles() * kTileDepth);
  room.resize(d.cols());
  for (std::size_t r = 0; r < d.rows(); ++r) {
    HWY_DYNAMIC_DISPATCH(widen_row)(normalized, r, widened.data());
    normalize_rows_backward(gradient_row(d, r, room), {widened.data(), 1, d.cols()},
                            inverse_std.subspan(r, 1), dx.rows_from(r, 1));
  }
}

}  // namespace

void normalize_backward_from_tiles(MatrixView<const float> d, const TiledMatrix& normalized,
                                   std::span<const float> inverse_std, MatrixView<float> dx) {
  normalize_backward_row_by_row(d, normalized, inverse_std, dx);
}

void normalize_backward_from_tiles(const SumStrips& d, const TiledMatrix& normalized,
                                   std::span<const float> inverse_std, MatrixView<float> dx) {
  normalize_backward_row_by_row(d, normalized, inverse_std, dx);
}

void softmax_to_tiles(float* scores, const AttentionTiles& shape, float scale, Bf16* probabilities) {
  HWY_DYNAMIC_DISPATCH(softmax_to_tiles)(scores, shape, scale, probabilities);
}

void softmax_backward_to_tiles(const float* d, const Bf16* probabilities, const AttentionTiles& shape,
                               float scale, Bf16* d_scores) {
  HWY_DYNAMIC_DISPATCH(softmax_backward_to_tiles)(d, probabilities, shape, scale, d_scores);
}

}  // namespace dfrost
#endif  // HWY_ONCE
