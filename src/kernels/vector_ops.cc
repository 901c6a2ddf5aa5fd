#include "kernels/vector_ops.h"

#include <cassert>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vector_ops.cc"
#include <hwy/foreach_target.h>
// After foreach_target, as Highway asks.
#include <hwy/highway.h>

#include "kernels/row_loops-inl.h"
#include "kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace dfrost::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

float dot(const float* a, const float* b, std::size_t n) {
  return sum_of(
      n, [=](std::size_t i, auto d) HWY_ATTR { return hn::Mul(hn::LoadU(d, a + i), hn::LoadU(d, b + i)); });
}

void add_scaled(float scale, const float* x, float* y, std::size_t n) {
  for_each_vector(n, [=](std::size_t i, auto d) HWY_ATTR {
    hn::StoreU(hn::MulAdd(hn::Set(d, scale), hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, y + i);
  });
}

float normalize_row(const float* x, float epsilon, float* out, std::size_t n) {
  const RowMoments moments = row_moments(x, epsilon, n);
  const float mean = moments.mean, inverse_std = moments.inverse_std;
  for_each_vector(n, [=](std::size_t i, auto d) HWY_ATTR {
    const auto centred = hn::Sub(hn::LoadU(d, x + i), hn::Set(d, mean));
    hn::StoreU(hn::Mul(centred, hn::Set(d, inverse_std)), d, out + i);
  });
  return inverse_std;
}

void normalize_row_backward(const float* g, const float* normalized, float inverse_std, float* dx,
                            std::size_t n) {
  const float count = static_cast<float>(n);
  const float mean = sum_of(n, [=](std::size_t i, auto d) HWY_ATTR { return hn::LoadU(d, g + i); }) / count;
  const float along = dot(g, normalized, n) / count;
  for_each_vector(n, [=](std::size_t i, auto d) HWY_ATTR {
    const auto centred = hn::Sub(hn::LoadU(d, g + i), hn::Set(d, mean));
    const auto rest = hn::NegMulAdd(hn::LoadU(d, normalized + i), hn::Set(d, along), centred);
    hn::StoreU(hn::MulAdd(rest, hn::Set(d, inverse_std), hn::LoadU(d, dx + i)), d, dx + i);
  });
}

void gelu_row(float* x, float* derivative, std::size_t n) {
  for_each_vector(n, [=](std::size_t i, auto d) HWY_ATTR {
    hn::Vec<decltype(d)> y, slope;
    gelu(d, hn::LoadU(d, x + i), y, slope);
    hn::StoreU(y, d, x + i);
    if (derivative != nullptr) hn::StoreU(slope, d, derivative + i);
  });
}

// The same in any order, and by whole vectors many times faster than one number after another.
float largest_in_row(const float* x, std::size_t n) {
  const FloatTag d;
  const std::size_t lanes = hn::Lanes(d);
  FloatVector largest = hn::Set(d, x[0]);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) largest = hn::Max(largest, hn::LoadU(d, x + i));
  float result = hn::GetLane(hn::MaxOfLanes(d, largest));
  for (; i < n; ++i) result = x[i] > result ? x[i] : result;
  return result;
}

void softmax_row(float* x, float scale, std::size_t n) {
  const float largest = largest_in_row(x, n);
  for_each_vector(n, [=](std::size_t i, auto d) HWY_ATTR {
    const auto shifted = hn::Sub(hn::LoadU(d, x + i), hn::Set(d, largest));
    hn::StoreU(exp_of_non_positive(d, hn::Mul(shifted, hn::Set(d, scale))), d, x + i);
  });
  const float inverse = 1.0f / sum_of(n, [=](std::size_t i, auto d) HWY_ATTR { return hn::LoadU(d, x + i); });
  for_each_vector(n, [=](std::size_t i, auto d) HWY_ATTR {
    hn::StoreU(hn::Mul(hn::LoadU(d, x + i), hn::Set(d, inverse)), d, x + i);
  });
}

void softmax_row_backward(const float* p, float scale, float* g, std::size_t n) {
  const float along = dot(p, g, n);
  for_each_vector(n, [=](std::size_t i, auto d) HWY_ATTR {
    const auto rest = hn::Sub(hn::LoadU(d, g + i), hn::Set(d, along));
    hn::StoreU(hn::Mul(hn::Mul(hn::LoadU(d, p + i), hn::Set(d, scale)), rest), d, g + i);
  });
}

void multiply_row(const float* factors, float* x, std::size_t n) {
  for_each_vector(n, [=](std::size_t i, auto d) HWY_ATTR {
    hn::StoreU(hn::Mul(hn::LoadU(d, factors + i), hn::LoadU(d, x + i)), d, x + i);
  });
}

}  // namespace dfrost::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfrost {

HWY_EXPORT(dot);
HWY_EXPORT(add_scaled);
HWY_EXPORT(normalize_row);
HWY_EXPORT(normalize_row_backward);
HWY_EXPORT(gelu_row);
HWY_EXPORT(softmax_row);
HWY_EXPORT(softmax_row_backward);
HWY_EXPORT(multiply_row);

void normalize_rows(MatrixView<const float> x, float epsilon, MatrixView<float> out,
                    std::span<float> inverse_std) {
  assert(x.rows() == out.rows() && x.cols() == out.cols() && inverse_std.size() >= x.rows());
  for (std::size_t r = 0; r < x.rows(); ++r) {
    inverse_std[r] =
        HWY_DYNAMIC_DISPATCH(normalize_row)(x.row(r).data(), epsilon, out.row(r).data(), x.cols());
  }
}

void normalize_rows_backward(MatrixView<const float> d, MatrixView<const float> normalized,
                             std::span<const float> inverse_std, MatrixView<float> dx) {
  assert(d.rows() == dx.rows() && d.cols() == dx.cols());
  for (std::size_t r = 0; r < d.rows(); ++r) {
    HWY_DYNAMIC_DISPATCH(normalize_row_backward)
    (d.row(r).data(), normalized.row(r).data(), inverse_std[r], dx.row(r).data(), d.cols());
  }
}

void gelu_rows(MatrixView<float> x, MatrixView<float>* derivative) {
  for (std::size_t r = 0; r < x.rows(); ++r) {
    float* slope = derivative == nullptr ? nullptr : derivative->row(r).data();
    HWY_DYNAMIC_DISPATCH(gelu_row)(x.row(r).data(), slope, x.cols());
  }
}

void softmax_rows(MatrixView<float> x, float scale) {
  for (std::size_t r = 0; r < x.rows(); ++r)
    HWY_DYNAMIC_DISPATCH(softmax_row)(x.row(r).data(), scale, x.cols());
}

void softmax_rows_backward(MatrixView<const float> p, float scale, MatrixView<float> d) {
  assert(p.rows() == d.rows() && p.cols() == d.cols());
  for (std::size_t r = 0; r < p.rows(); ++r) {
    HWY_DYNAMIC_DISPATCH(softmax_row_backward)(p.row(r).data(), scale, d.row(r).data(), p.cols());
  }
}

void multiply_rows(MatrixView<const float> factors, MatrixView<float> x) {
  assert(factors.rows() == x.rows() && factors.cols() == x.cols());
  for (std::size_t r = 0; r < x.rows(); ++r) {
    HWY_DYNAMIC_DISPATCH(multiply_row)(factors.row(r).data(), x.row(r).data(), x.cols());
  }
}

float dot(std::span<const float> a, std::span<const float> b) {
  assert(a.size() == b.size());
  return HWY_DYNAMIC_DISPATCH(dot)(a.data(), b.data(), a.size());
}

void add_scaled(float a, std::span<const float> x, std::span<float> y) {
  assert(x.size() == y.size());
  HWY_DYNAMIC_DISPATCH(add_scaled)(a, x.data(), y.data(), x.size());
}

}  // namespace dfrost
#endif  // HWY_ONCE
