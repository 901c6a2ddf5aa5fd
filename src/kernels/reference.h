// The slow, obvious version of every kernel, in whatever type it is asked (double, to check derivatives by
// finite differences). What the fast ones must agree with; nothing else calls these.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>
#include <vector>

#include "dfrost/matrix_view.h"
#include "kernels/attention.h"

namespace dfrost::reference {

template <typename T>
T gelu(T x) {
  return x * T(0.5) * std::erfc(-x / std::numbers::sqrt2_v<T>);
}

template <typename T>
T gelu_derivative(T x) {
  const T density = std::exp(-x * x / 2) * std::numbers::inv_sqrtpi_v<T> / std::numbers::sqrt2_v<T>;
  return T(0.5) * std::erfc(-x / std::numbers::sqrt2_v<T>) + x * density;
}

// out = a·bᵀ: a [m, k], b [n, k], out [m, n].
template <typename T>
void multiply_transposed(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> out) {
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < b.rows(); ++j) {
      T sum = 0;
      for (std::size_t k = 0; k < a.cols(); ++k) sum += a(i, k) * b(j, k);
      out(i, j) = sum;
    }
  }
}

template <typename T>
void normalize(MatrixView<const T> x, T epsilon, MatrixView<T> out, std::span<T> inverse_std) {
  for (std::size_t r = 0; r < x.rows(); ++r) {
    T mean = 0;
    for (const T v : x.row(r)) mean += v / T(x.cols());
    T variance = 0;
    for (const T v : x.row(r)) variance += (v - mean) * (v - mean) / T(x.cols());
    inverse_std[r] = 1 / std::sqrt(variance + epsilon);
    for (std::size_t c = 0; c < x.cols(); ++c) out(r, c) = (x(r, c) - mean) * inverse_std[r];
  }
}

template <typename T>
void normalize_backward(MatrixView<const T> d, MatrixView<const T> normalized, std::span<const T> inverse_std,
                        MatrixView<T> dx) {
  for (std::size_t r = 0; r < d.rows(); ++r) {
    T mean = 0, along = 0;
    for (std::size_t c = 0; c < d.cols(); ++c) {
      mean += d(r, c) / T(d.cols());
      along += d(r, c) * normalized(r, c) / T(d.cols());
    }
    for (std::size_t c = 0; c < d.cols(); ++c) {
      dx(r, c) += inverse_std[r] * (d(r, c) - mean - normalized(r, c) * along);
    }
  }
}

template <typename T>
void softmax(MatrixView<T> x, T scale) {
  for (std::size_t r = 0; r < x.rows(); ++r) {
    T largest = x(r, 0), sum = 0;
    for (const T v : x.row(r)) largest = std::max(largest, v);
    for (T& v : x.row(r)) sum += v = std::exp(scale * (v - largest));
    for (T& v : x.row(r)) v /= sum;
  }
}

// The probabilities [tokens, tokens] of one image and head; qkv [images·tokens, 3·width]: q | k | v.
template <typename T>
std::vector<T> attention_probabilities(MatrixView<const T> qkv, const AttentionShape& shape,
                                       std::size_t image, std::size_t head) {
  const std::size_t n = shape.tokens, size = shape.head_size;
  std::vector<T> p(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      T sum = 0;
      for (std::size_t c = 0; c < size; ++c) {
        sum += qkv(image * n + i, head * size + c) * qkv(image * n + j, shape.width() + head * size + c);
      }
      p[i * n + j] = sum;
    }
  }
  softmax(MatrixView<T>(p.data(), n, n), T(1) / std::sqrt(T(size)));
  return p;
}

// What gated attention mixes in (kernels/position_gates.h); attention without gates has none of it.
template <typename T>
struct PositionParts {
  std::span<const T> gates = {};    // [heads]
  MatrixView<const T> scores = {};  // [heads·patches, patches]

  bool has_place(std::size_t token, std::size_t tokens) const {
    return !gates.empty() && token >= tokens - scores.cols();
  }
  // The part of a token's attention that goes by content.
  T content_share(std::size_t head, std::size_t token, std::size_t tokens) const {
    return has_place(token, tokens) ? T(1) - gates[head] : T(1);
  }
  std::vector<T> mix(std::vector<T> content, std::size_t head, std::size_t n) const {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        content[i * n + j] *= content_share(head, i, n);
        if (!has_place(i, n) || !has_place(j, n)) continue;
        const std::size_t patches = scores.cols(), prompts = n - patches;
        content[i * n + j] += gates[head] * scores(head * patches + i - prompts, j - prompts);
      }
    }
    return content;
  }
};

template <typename T>
void attention(MatrixView<const T> qkv, const AttentionShape& shape, MatrixView<T> out,
               const PositionParts<T>& positions = {}) {
  const std::size_t n = shape.tokens, size = shape.head_size;
  for (std::size_t image = 0; image < shape.images; ++image) {
    for (std::size_t head = 0; head < shape.heads; ++head) {
      const auto p = positions.mix(attention_probabilities(qkv, shape, image, head), head, n);
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t c = 0; c < size; ++c) {
          T sum = 0;
          for (std::size_t j = 0; j < n; ++j) {
            sum += p[i * n + j] * qkv(image * n + j, 2 * shape.width() + head * size + c);
          }
          out(image * n + i, head * size + c) = sum;
        }
      }
    }
  }
}

// From d_out [rows, width] to d_qkv [rows, 3·width].
template <typename T>
void attention_backward(MatrixView<const T> qkv, MatrixView<const T> d_out, const AttentionShape& shape,
                        MatrixView<T> d_qkv, const PositionParts<T>& positions = {}) {
  const std::size_t n = shape.tokens, size = shape.head_size, width = shape.width();
  const T scale = T(1) / std::sqrt(T(size));
  for (std::size_t image = 0; image < shape.images; ++image) {
    for (std::size_t head = 0; head < shape.heads; ++head) {
      const auto p = attention_probabilities(qkv, shape, image, head);
      const auto mixed = positions.mix(p, head, n);
      const std::size_t q = head * size, k = width + q, v = width + k, first = image * n;
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t c = 0; c < 3 * width; c += width) {
          for (std::size_t e = 0; e < size; ++e) d_qkv(first + i, c + q + e) = 0;
        }
      }
      for (std::size_t i = 0; i < n; ++i) {
        std::vector<T> dp(n);
        T along = 0;
        for (std::size_t j = 0; j < n; ++j) {
          for (std::size_t e = 0; e < size; ++e) {
            dp[j] += d_out(first + i, q + e) * qkv(first + j, v + e);
            d_qkv(first + j, v + e) += mixed[i * n + j] * d_out(first + i, q + e);
          }
          dp[j] *= positions.content_share(head, i, n);
          along += dp[j] * p[i * n + j];
        }
        for (std::size_t j = 0; j < n; ++j) {
          const T ds = scale * p[i * n + j] * (dp[j] - along);
          for (std::size_t e = 0; e < size; ++e) {
            d_qkv(first + i, q + e) += ds * qkv(first + j, k + e);
            d_qkv(first + j, k + e) += ds * qkv(first + i, q + e);
          }
        }
      }
    }
  }
}

}  // namespace dfrost::reference
