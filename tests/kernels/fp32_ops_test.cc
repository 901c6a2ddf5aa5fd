#include "kernels/fp32_ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"
#include "base/thread_pool.h"
#include "kernels/few_query_attention.h"
#include "kernels/reference.h"

namespace dfrost {
namespace {

Matrix<float> random_matrix(std::size_t rows, std::size_t cols, Seed seed) {
  RandomStream stream(seed, "matrix");
  Matrix<float> m(rows, cols);
  for (std::size_t i = 0; i < rows * cols; ++i) m.data()[i] = static_cast<float>(stream.normal());
  return m;
}

Matrix<double> to_double(const Matrix<float>& m) {
  Matrix<double> out(m.rows(), m.cols());
  for (std::size_t i = 0; i < m.rows() * m.cols(); ++i) out.data()[i] = static_cast<double>(m.data()[i]);
  return out;
}

void expect_near(MatrixView<const float> a, MatrixView<const double> b, double tolerance) {
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.cols(), b.cols());
  for (std::size_t r = 0; r < a.rows(); ++r) {
    for (std::size_t c = 0; c < a.cols(); ++c) ASSERT_NEAR(a(r, c), b(r, c), tolerance) << r << "," << c;
  }
}

TEST(Fp32Product, AgreesWithThePlainLoopForAnyShape) {
  for (const auto& [m, n, k] :
       {std::array<std::size_t, 3>{1, 1, 1}, {3, 5, 7}, {60, 64, 48}, {17, 130, 33}}) {
    const auto a = random_matrix(m, k, 1), w = random_matrix(n, k, 2), bias = random_matrix(1, n, 3);
    auto out = random_matrix(m, n, 4);
    const auto before = out.view();
    Matrix<double> product(m, n), sum(m, n), again(m, n);
    reference::multiply_transposed<double>(to_double(a), to_double(w), product);
    for (std::size_t r = 0; r < m; ++r) {
      for (std::size_t c = 0; c < n; ++c) {
        sum.row(r)[c] = product.row(r)[c] + static_cast<double>(bias.row(0)[c]);
        again.row(r)[c] = sum.row(r)[c] + static_cast<double>(before(r, c));
      }
    }
    const Fp32Ops::Weights weights(w);
    Fp32Ops::product_add(a, weights, bias.row(0), out);
    expect_near(out, again, 1e-4);
    Fp32Ops::product(a, weights, bias.row(0), out);
    expect_near(out, sum, 1e-4);
    Fp32Ops::product(a, weights, {}, out);
    expect_near(out, product, 1e-4);
  }
}

TEST(Fp32Product, IsTheSameOnManyThreadsAtOnce) {
  const auto a = random_matrix(40, 64, 1), w = random_matrix(96, 64, 2);
  const Fp32Ops::Weights weights(w);
  Matrix<float> expected(40, 96);
  Fp32Ops::product(a, weights, {}, expected);
  ThreadPool threads(4);
  threads.parallel_for(64, [&](std::size_t i, std::size_t) {
    Matrix<float> out(40, 96);
    // Different row counts make new primitives while others run.
    Matrix<float> other(1 + i % 9, 96);
    Fp32Ops::Operand part;
    Fp32Ops::pack(a.view().rows_from(0, other.rows()), part);
    Fp32Ops::product(part, weights, {}, other);
    Fp32Ops::product(a, weights, {}, out);
    EXPECT_TRUE(std::equal(out.data(), out.data() + 40 * 96, expected.data()));
  });
}

TEST(Fp32Attention, AgreesWithThePlainLoopsForwardAndBackward) {
  for (const AttentionShape shape :
       {AttentionShape{2, 7, 3, 5}, AttentionShape{1, 60, 2, 64}, AttentionShape{3, 1, 1, 8}}) {
    const auto qkv = random_matrix(shape.rows(), 3 * shape.width(), 1),
               d = random_matrix(shape.rows(), shape.width(), 2);
    Fp32Ops::Operand out, d_qkv, unsaved;
    Fp32Ops::Probabilities saved;
    Fp32Ops::attention(qkv, shape, out, &saved);
    Fp32Ops::attention(qkv, shape, unsaved, nullptr);
    Fp32Ops::attention_backward(qkv, saved, d, shape, d_qkv);
    Matrix<double> exact(shape.rows(), shape.width()), exact_d(shape.rows(), 3 * shape.width());
    reference::attention<double>(to_double(qkv), shape, exact);
    reference::attention_backward<double>(to_double(qkv), to_double(d), shape, exact_d);
    expect_near(out, exact, 1e-5);
    expect_near(unsaved, exact, 1e-5);
    expect_near(d_qkv, exact_d, 1e-4);
  }
}

TEST(FewQueryAttention, IsFullAttentionSeenFromItsQueriesForwardAndBackward) {
  const AttentionShape shape{3, 11, 2, 6};
  constexpr std::size_t kQueries = 2;
  const std::size_t width = shape.width(), query_rows = shape.images * kQueries;
  const auto qkv = random_matrix(shape.rows(), 3 * width, 1), d = random_matrix(query_rows, width, 2);
  // The reference attends from all tokens; the others' gradient is zero.
  Matrix<float> query(query_rows, width), key_value(shape.rows(), 2 * width);
  Matrix<double> all_d(shape.rows(), width), exact(shape.rows(), width), exact_d(shape.rows(), 3 * width);
  std::fill_n(all_d.data(), shape.rows() * width, 0.0);
  for (std::size_t r = 0; r < shape.rows(); ++r) {
    std::copy_n(qkv.row(r).begin() + static_cast<std::ptrdiff_t>(width), 2 * width, key_value.row(r).begin());
  }
  const auto token = [&](std::size_t q) { return q / kQueries * shape.tokens + q % kQueries; };
  for (std::size_t q = 0; q < query_rows; ++q) {
    std::copy_n(qkv.row(token(q)).begin(), width, query.row(q).begin());
    std::copy(d.row(q).begin(), d.row(q).end(), all_d.row(token(q)).begin());
  }
  reference::attention<double>(to_double(qkv), shape, exact);
  reference::attention_backward<double>(to_double(qkv), all_d, shape, exact_d);

  Matrix<float> p(query_rows * shape.heads, shape.tokens), out(query_rows, width), d_query(query_rows, width),
      d_key_value(shape.rows(), 2 * width);
  few_query_attention(query, key_value, shape, p, out);
  few_query_attention_backward(query, key_value, p, d, shape, d_query, d_key_value);
  for (std::size_t q = 0; q < query_rows; ++q) {
    for (std::size_t c = 0; c < width; ++c) {
      EXPECT_NEAR(out.row(q)[c], exact.row(token(q))[c], 1e-5);
      EXPECT_NEAR(d_query.row(q)[c], exact_d.row(token(q))[c], 1e-5);
    }
  }
  for (std::size_t r = 0; r < shape.rows(); ++r) {
    for (std::size_t c = 0; c < 2 * width; ++c)
      EXPECT_NEAR(d_key_value.row(r)[c], exact_d.row(r)[width + c], 1e-5);
  }
}

}  // namespace
}  // namespace dfrost
