#include <gtest/gtest.h>

#include <cmath>

#include "kernels/bf16_ops.h"
#include "kernels/bf16_support.h"
#include "kernels/reference.h"
#include "support/amx_emulator.h"

namespace dfrost {
namespace {

using test::doubles_of;
using test::random_bf16_floats;

// Of every size class: one token, one tile, an odd number of tiles, ViT-B/32 with prompts, more than two
// blocks of 32; heads of 64 and of sizes that fill no tile.
constexpr AttentionShape kAttentionShapes[] = {{1, 1, 1, 64},  {2, 13, 3, 64}, {1, 40, 2, 32}, {2, 60, 2, 64},
                                               {1, 77, 1, 48}, {2, 20, 2, 80}, {1, 9, 3, 7}};

// Largest difference over the largest number: what roundings of intermediate results may leave.
double relative_error(const Matrix<double>& a, const Matrix<double>& b) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < b.rows() * b.cols(); ++i) {
    difference = std::max(difference, std::abs(a.data()[i] - b.data()[i]));
    size = std::max(size, std::abs(b.data()[i]));
  }
  return difference / size;
}

TEST(Bf16Attention, AgreesWithThePlainLoopsForwardAndBackward) {
  const test::Bf16ForTest bf16_here;
  for (const AttentionShape& shape : kAttentionShapes) {
    const auto qkv = random_bf16_floats(shape.rows(), 3 * shape.width(), 1);
    const auto d_out = random_bf16_floats(shape.rows(), shape.width(), 2);
    const RowMatrix qkv_rows = test::row_matrix_of(qkv), d_rows = test::row_matrix_of(d_out);
    Bf16Ops::Operand out, d_qkv;
    Bf16Ops::Probabilities saved;
    Bf16Ops::attention(qkv_rows, shape, out, &saved);
    Bf16Ops::attention_backward(qkv_rows, saved, d_rows, shape, d_qkv);
    Matrix<double> expected(shape.rows(), shape.width()), d_expected(shape.rows(), 3 * shape.width());
    reference::attention<double>(doubles_of(qkv), shape, expected);
    reference::attention_backward<double>(doubles_of(qkv), doubles_of(d_out), shape, d_expected);
    EXPECT_LT(relative_error(doubles_of(out), expected), 0.01) << shape.tokens << " × " << shape.head_size;
    EXPECT_LT(relative_error(doubles_of(d_qkv), d_expected), 0.02)
        << shape.tokens << " × " << shape.head_size;
  }
}

TEST(Bf16Attention, GivesTheSameWhetherItsProbabilitiesAreKeptOrNot) {
  const test::Bf16ForTest bf16_here;
  const AttentionShape shape{2, 35, 2, 64};
  const RowMatrix qkv = test::row_matrix_of(random_bf16_floats(shape.rows(), 3 * shape.width(), 1));
  Bf16Ops::Operand kept, not_kept;
  Bf16Ops::Probabilities saved;
  Bf16Ops::attention(qkv, shape, kept, &saved);
  Bf16Ops::attention(qkv, shape, not_kept, nullptr);
  for (std::size_t r = 0; r < shape.rows(); ++r) {
    for (std::size_t c = 0; c < shape.width(); ++c) ASSERT_EQ(kept.at(r, c), not_kept.at(r, c));
  }
}

TEST(Bf16Attention, AnImageDoesNotDependOnItsNeighboursEvenWhenTheyAreNotNumbers) {
  const test::Bf16ForTest bf16_here;
  const AttentionShape three{3, 21, 2, 64}, one{1, 21, 2, 64};
  auto qkv = random_bf16_floats(three.rows(), 3 * three.width(), 1);
  auto d_out = random_bf16_floats(three.rows(), three.width(), 2);
  Matrix<float> middle(21, 3 * one.width()), d_middle(21, one.width());
  for (std::size_t r = 0; r < 21; ++r) {
    std::copy_n(qkv.row(21 + r).data(), middle.cols(), middle.row(r).data());
    std::copy_n(d_out.row(21 + r).data(), d_middle.cols(), d_middle.row(r).data());
  }
  for (const std::size_t image : {0u, 2u}) {
    std::fill_n(qkv.row(image * 21).data(), 21 * qkv.cols(), std::nanf(""));
    std::fill_n(d_out.row(image * 21).data(), 21 * d_out.cols(), std::nanf(""));
  }
  const auto run = [](const Matrix<float>& x, const Matrix<float>& d, const AttentionShape& shape,
                      Bf16Ops::Operand& out, Bf16Ops::Operand& d_qkv) {
    const RowMatrix rows = test::row_matrix_of(x), d_rows = test::row_matrix_of(d);
    Bf16Ops::Probabilities saved;
    Bf16Ops::attention(rows, shape, out, &saved);
    Bf16Ops::attention_backward(rows, saved, d_rows, shape, d_qkv);
  };
  Bf16Ops::Operand out, d_qkv, alone, d_alone;
  run(qkv, d_out, three, out, d_qkv);
  run(middle, d_middle, one, alone, d_alone);
  for (std::size_t r = 0; r < 21; ++r) {
    for (std::size_t c = 0; c < out.cols(); ++c) ASSERT_EQ(out.at(21 + r, c), alone.at(r, c));
    for (std::size_t c = 0; c < d_qkv.cols(); ++c) ASSERT_EQ(d_qkv.at(21 + r, c), d_alone.at(r, c));
  }
}

TEST(Bf16Attention, AHeadThatFillsNoTileDoesNotDependOnItsNeighboursEvenWhenTheyAreNotNumbers) {
  const test::Bf16ForTest bf16_here;
  const AttentionShape shape{2, 21, 3, 24};
  const std::size_t width = shape.width(), size = shape.head_size;
  auto qkv = random_bf16_floats(shape.rows(), 3 * width, 1);
  auto d_out = random_bf16_floats(shape.rows(), width, 2);
  const auto run = [&shape](const Matrix<float>& x, const Matrix<float>& d) {
    const RowMatrix rows = test::row_matrix_of(x), d_rows = test::row_matrix_of(d);
    Bf16Ops::Operand out, d_qkv;
    Bf16Ops::Probabilities saved;
    Bf16Ops::attention(rows, shape, out, &saved);
    Bf16Ops::attention_backward(rows, saved, d_rows, shape, d_qkv);
    return std::pair(doubles_of(out), doubles_of(d_qkv));
  };
  const auto [expected, d_expected] = run(qkv, d_out);
  for (std::size_t r = 0; r < shape.rows(); ++r) {
    for (const std::size_t head : {0u, 2u}) {
      for (const std::size_t part : {0u, 1u, 2u})
        std::fill_n(qkv.row(r).data() + part * width + head * size, size, std::nanf(""));
      std::fill_n(d_out.row(r).data() + head * size, size, std::nanf(""));
    }
  }
  const auto [out, d_qkv] = run(qkv, d_out);
  for (std::size_t r = 0; r < shape.rows(); ++r) {
    for (std::size_t c = size; c < 2 * size; ++c) {
      ASSERT_EQ(out.row(r)[c], expected.row(r)[c]);
      for (const std::size_t part : {0u, 1u, 2u})
        ASSERT_EQ(d_qkv.row(r)[part * width + c], d_expected.row(r)[part * width + c]);
    }
  }
}

TEST(Bf16Attention, SurvivesScoresFarApart) {
  const test::Bf16ForTest bf16_here;
  const AttentionShape shape{1, 20, 1, 64};
  const auto qkv = random_bf16_floats(shape.rows(), 3 * shape.width(), 1, 100);
  Bf16Ops::Operand out;
  Bf16Ops::attention(test::row_matrix_of(qkv), shape, out, nullptr);
  Matrix<double> expected(shape.rows(), shape.width());
  reference::attention<double>(doubles_of(qkv), shape, expected);
  EXPECT_LT(relative_error(doubles_of(out), expected), 0.01);
}

}  // namespace
}  // namespace dfrost
