#include "backbone/random_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "support/support.h"

namespace dfrost {
namespace {

TEST(RandomWeights, HaveTheShapesOfTheirModel) {
  for (const auto& name : model_names()) {
    const auto g = geometry_of_model(name);
    EXPECT_EQ(g.width % g.heads, 0u) << name;
    EXPECT_EQ(g.image_size % g.patch_size, 0u) << name;
  }
  const RandomWeights weights(geometry_of_model("tiny"), 1);
  const auto& g = weights.geometry();
  const auto stem = weights.read_stem();
  EXPECT_EQ(stem.patch.weight.size(), g.width * g.patch_values());
  EXPECT_EQ(stem.special_tokens.size(), g.width);
  EXPECT_EQ(stem.patch_positions.size(), g.patches() * g.width);
  const auto block = weights.read_block(2);
  EXPECT_EQ(block.qkv.weight.size(), 3 * g.width * g.width);
  EXPECT_EQ(block.fc1.bias.size(), g.mlp_width);
  ASSERT_EQ(weights.read_heads().size(), 1u);
}

TEST(RandomWeights, OfAConvitHaveGatesAndNoBiasesOfQueriesKeysAndValues) {
  const auto g = geometry_of_model("convit-tiny");
  EXPECT_EQ(g.head_size(), 48u);
  EXPECT_EQ(g.gated_blocks, 10u);
  const RandomConvit weights(g, 1);
  const auto gate = weights.read_gate(9);
  EXPECT_EQ(gate.gating.size(), 4u);
  EXPECT_EQ(gate.position.weight.size(), 12u);
  EXPECT_NE(gate.gating, weights.read_gate(8).gating);
  EXPECT_EQ(gate.gating, RandomConvit(g, 1).read_gate(9).gating);
  for (const float bias : weights.read_block(0).qkv.bias) ASSERT_EQ(bias, 0.0f);
  EXPECT_NE(dynamic_cast<const ConvitWeights*>(random_weights(g, 1).get()), nullptr);
}

TEST(RandomWeights, AreFixedByTheSeedAndThePieceAlone) {
  const auto g = geometry_of_model("tiny");
  const RandomWeights one(g, 1), other(g, 2);
  const auto first = one.read_block(1).fc1.weight;
  one.read_stem();
  EXPECT_EQ(one.read_block(1).fc1.weight, first);
  EXPECT_NE(one.read_block(2).fc1.weight, first);
  EXPECT_NE(other.read_block(1).fc1.weight, first);
}

TEST(RandomWeights, HaveTheDeviationTheyPromise) {
  const RandomWeights weights(geometry_of_model("deit-tiny"), 3);
  const auto matrix = weights.read_block(0).fc1;
  double squares = 0, sum = 0;
  for (const float w : matrix.weight) {
    sum += w;
    squares += double{w} * w;
  }
  const auto count = static_cast<double>(matrix.weight.size());
  EXPECT_NEAR(std::sqrt(squares / count), 0.5 / std::sqrt(192.0), 1e-4);
  EXPECT_NEAR(sum / count, 0.0, 5e-4);
}

TEST(GeometryOfModel, SuggestsTheNearestName) {
  test::expect_error(ErrorCode::invalid_argument, "did you mean 'vit-b32'",
                     [] { geometry_of_model("vit-b23"); });
  test::expect_error(ErrorCode::invalid_argument, "the models are vit-b32",
                     [] { geometry_of_model("resnet"); });
}

// Of tokens that have one mean and one deviation the norm is linear: then the map is that of the block
// itself, up to its unit.
TEST(FirstBlockMap, IsWhatKeysAndValuesOfTheFirstBlockAreOfTokensOfOneLength) {
  const RandomWeights weights(geometry_of_model("tiny"), 7);
  const auto block = weights.read_block(0);
  const auto map = weights.first_block_map();
  const std::size_t width = weights.geometry().width;
  ASSERT_EQ(map.size(), 2 * width * width);
  RandomStream random(1, "tokens");
  std::vector<double> token(width);
  for (double& value : token) value = random.normal();
  const double mean = std::accumulate(token.begin(), token.end(), 0.0) / static_cast<double>(width);
  auto turned = token;  // the same numbers in another order
  std::rotate(turned.begin(), turned.begin() + 3, turned.end());
  double factor = 0, squares = 0;
  for (const float value : map) squares += static_cast<double>(value) * static_cast<double>(value);
  EXPECT_NEAR(squares, static_cast<double>(width), 1e-3);
  for (std::size_t r = 0; r < 2 * width; ++r) {
    double of_block = 0, of_map = 0;  // of token less that of turned
    for (std::size_t c = 0; c < width; ++c) {
      const auto scale = static_cast<double>(block.norm1.scale[c]);
      of_block += static_cast<double>(block.qkv.weight[(width + r) * width + c]) * scale *
                  ((token[c] - mean) - (turned[c] - mean));
      of_map += static_cast<double>(map[r * width + c]) * (token[c] - turned[c]);
    }
    if (r == 0) factor = of_map / of_block;
    EXPECT_NEAR(of_map, factor * of_block, 1e-4 * (1 + std::abs(of_map)));
  }
  // What is the same in all entries is taken off by the norm.
  for (std::size_t r = 0; r < 2 * width; ++r) {
    double of_ones = 0;
    for (std::size_t c = 0; c < width; ++c) of_ones += static_cast<double>(map[r * width + c]);
    EXPECT_NEAR(of_ones, 0, 1e-4);
  }
}

}  // namespace
}  // namespace dfrost
