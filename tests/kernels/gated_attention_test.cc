// Attention by content and by position, in both arithmetics.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/bf16_ops.h"
#include "kernels/bf16_support.h"
#include "kernels/fp32_ops.h"
#include "kernels/reference.h"
#include "support/amx_emulator.h"

namespace dfrost {
namespace {

using test::doubles_of;
using test::random_bf16_floats;

// Images, patches, prompts, heads, head size: a lone patch, no prompts, fewer and more prompts than a tile
// has columns, patches that end a tile and that begin one, ConViT's heads of 48.
struct GatedShape {
  std::size_t images, patches, prompts, heads, head_size;
  AttentionShape attention() const { return {images, prompts + patches, heads, head_size}; }
};
constexpr GatedShape kShapes[] = {{1, 1, 0, 1, 48},   {2, 9, 10, 3, 48}, {1, 25, 0, 2, 16},
                                  {1, 64, 32, 1, 64}, {2, 49, 10, 2, 7}, {1, 36, 70, 2, 48},
                                  {1, 100, 1, 1, 32}};

Matrix<float> random_scores(std::size_t heads, std::size_t patches) {
  auto scores = random_bf16_floats(heads * patches, patches, 5);
  for (std::size_t r = 0; r < scores.rows(); ++r) {
    float sum = 0;
    for (float& value : scores.row(r)) sum += value = std::exp(value);
    for (float& value : scores.row(r)) value = to_float(to_bf16(value / sum));
  }
  return scores;
}

struct GatedCase {
  GatedShape shape;
  Matrix<float> qkv, d_out, scores;
  std::vector<float> gates;

  explicit GatedCase(const GatedShape& of)
      : shape(of),
        qkv(random_bf16_floats(of.attention().rows(), 3 * of.attention().width(), 1)),
        d_out(random_bf16_floats(of.attention().rows(), of.attention().width(), 2)),
        scores(random_scores(of.heads, of.patches)) {
    for (std::size_t h = 0; h < of.heads; ++h)
      gates.push_back(0.25f + 0.5f * static_cast<float>(h) / static_cast<float>(of.heads));
  }
};

struct GatedResult {
  Matrix<double> out, d_qkv;
};

template <typename Ops>
typename Ops::Rows rows_of(const Matrix<float>& m) {
  if constexpr (std::is_same_v<Ops, Bf16Ops>) {
    return test::row_matrix_of(m);
  } else {
    typename Ops::Rows rows;
    Ops::pack(m, rows);
    return rows;
  }
}

template <typename Ops>
GatedResult run(const GatedCase& in, bool gated = true) {
  const auto shape = in.shape.attention();
  const auto qkv = rows_of<Ops>(in.qkv), d_out = rows_of<Ops>(in.d_out);
  typename Ops::Gates gates(in.gates, in.shape.patches, {});
  gates.fill(in.scores);
  typename Ops::Operand out, d_qkv;
  typename Ops::Probabilities saved;
  if (gated) {
    Ops::gated_attention(qkv, gates, shape, out, &saved);
    Ops::gated_attention_backward(qkv, gates, saved, d_out, shape, d_qkv);
  } else {
    Ops::attention(qkv, shape, out, &saved);
    Ops::attention_backward(qkv, saved, d_out, shape, d_qkv);
  }
  return {doubles_of(out), doubles_of(d_qkv)};
}

GatedResult run_reference(const GatedCase& in) {
  const auto shape = in.shape.attention();
  const std::vector<double> gates(in.gates.begin(), in.gates.end());
  const auto scores = doubles_of(in.scores);
  const reference::PositionParts<double> positions{gates, scores.view()};
  GatedResult result{Matrix<double>(shape.rows(), shape.width()),
                     Matrix<double>(shape.rows(), 3 * shape.width())};
  reference::attention<double>(doubles_of(in.qkv), shape, result.out, positions);
  reference::attention_backward<double>(doubles_of(in.qkv), doubles_of(in.d_out), shape, result.d_qkv,
                                        positions);
  return result;
}

double largest_error(const Matrix<double>& a, const Matrix<double>& b) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < b.rows() * b.cols(); ++i) {
    difference = std::max(difference, std::abs(a.data()[i] - b.data()[i]));
    size = std::max(size, std::abs(b.data()[i]));
  }
  return difference / size;
}

void expect_same(const Matrix<double>& a, const Matrix<double>& b) {
  ASSERT_EQ(a.rows(), b.rows());
  for (std::size_t r = 0; r < a.rows(); ++r) {
    for (std::size_t c = 0; c < a.cols(); ++c) ASSERT_EQ(a.row(r)[c], b.row(r)[c]) << r << ", " << c;
  }
}

template <typename Ops>
void expect_plain_loops(double tolerance) {
  for (const auto& shape : kShapes) {
    SCOPED_TRACE(shape.patches);
    const GatedCase in(shape);
    const auto got = run<Ops>(in), expected = run_reference(in);
    EXPECT_LT(largest_error(got.out, expected.out), tolerance);
    EXPECT_LT(largest_error(got.d_qkv, expected.d_qkv), 2 * tolerance);
  }
}

TEST(GatedAttention, AgreesWithThePlainLoopsForwardAndBackwardInFp32) { expect_plain_loops<Fp32Ops>(1e-5); }

TEST(GatedAttention, AgreesWithThePlainLoopsForwardAndBackwardInBf16) {
  const test::Bf16ForTest bf16_here;
  expect_plain_loops<Bf16Ops>(0.01);
}

template <typename Ops>
void expect_attention_behind_closed_gates() {
  for (const auto& shape : kShapes) {
    GatedCase in(shape);
    std::ranges::fill(in.gates, 0.0f);
    const auto gated = run<Ops>(in), plain = run<Ops>(in, false);
    expect_same(gated.out, plain.out);
    expect_same(gated.d_qkv, plain.d_qkv);
  }
}

TEST(GatedAttention, IsAttentionWhereAllGatesAreShut) {
  const test::Bf16ForTest bf16_here;
  expect_attention_behind_closed_gates<Fp32Ops>();
  expect_attention_behind_closed_gates<Bf16Ops>();
}

// An image's content is lost on its patches then, but not on its prompts.
TEST(GatedAttention, GoesByPositionAloneWhereAllGatesAreOpen) {
  const test::Bf16ForTest bf16_here;
  GatedCase in({1, 25, 10, 2, 16}), other(in.shape);
  for (auto* one : {&in, &other}) std::ranges::fill(one->gates, 1.0f);
  const std::size_t width = in.shape.attention().width();
  for (std::size_t r = 0; r < in.qkv.rows(); ++r) {
    for (std::size_t c = 0; c < 2 * width; ++c) other.qkv.row(r)[c] = -in.qkv.row(r)[c] + 0.5f;
  }
  const auto one = run<Bf16Ops>(in).out, two = run<Bf16Ops>(other).out;
  for (std::size_t r = 0; r < one.rows(); ++r) {
    const bool same = std::equal(one.row(r).begin(), one.row(r).end(), two.row(r).begin());
    EXPECT_EQ(same, r >= in.shape.prompts) << r;
  }
}

TEST(GatedAttention, OfPromptsIsThatOfContentAlone) {
  const test::Bf16ForTest bf16_here;
  const GatedCase in({2, 49, 10, 2, 48});
  const auto gated = run<Bf16Ops>(in).out, plain = run<Bf16Ops>(in, false).out;
  for (std::size_t r = 0; r < gated.rows(); ++r) {
    const bool same = std::equal(gated.row(r).begin(), gated.row(r).end(), plain.row(r).begin());
    EXPECT_EQ(same, r % 59 < 10) << r;
  }
}

TEST(GatedAttention, GivesTheSameWhetherItsProbabilitiesAreKeptOrNot) {
  const test::Bf16ForTest bf16_here;
  const GatedCase in({2, 36, 10, 2, 48});
  const RowMatrix qkv = test::row_matrix_of(in.qkv);
  Bf16Ops::Gates gates(in.gates, in.shape.patches, {});
  gates.fill(in.scores);
  Bf16Ops::Operand out;
  Bf16Ops::gated_attention(qkv, gates, in.shape.attention(), out, nullptr);
  expect_same(doubles_of(out), run<Bf16Ops>(in).out);
}

template <typename Ops>
void expect_no_neighbours() {
  GatedCase three({3, 25, 10, 2, 48}), one({1, 25, 10, 2, 48});
  std::copy_n(three.qkv.row(35).data(), 35 * one.qkv.cols(), one.qkv.data());
  std::copy_n(three.d_out.row(35).data(), 35 * one.d_out.cols(), one.d_out.data());
  for (const std::size_t image : {0u, 2u}) {
    std::fill_n(three.qkv.row(image * 35).data(), 35 * three.qkv.cols(), std::nanf(""));
    std::fill_n(three.d_out.row(image * 35).data(), 35 * three.d_out.cols(), std::nanf(""));
  }
  const auto among = run<Ops>(three), alone = run<Ops>(one);
  for (std::size_t r = 0; r < 35; ++r) {
    for (std::size_t c = 0; c < alone.out.cols(); ++c)
      ASSERT_EQ(among.out.row(35 + r)[c], alone.out.row(r)[c]);
    for (std::size_t c = 0; c < alone.d_qkv.cols(); ++c)
      ASSERT_EQ(among.d_qkv.row(35 + r)[c], alone.d_qkv.row(r)[c]);
  }
}

TEST(GatedAttention, OfAnImageDoesNotDependOnItsNeighboursEvenWhenTheyAreNotNumbers) {
  const test::Bf16ForTest bf16_here;
  expect_no_neighbours<Fp32Ops>();
  expect_no_neighbours<Bf16Ops>();
}

}  // namespace
}  // namespace dfrost
