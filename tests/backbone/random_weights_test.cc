#include "backbone/random_weights.h"

#include <gtest/gtest.h>

#include <cmath>

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

}  // namespace
}  // namespace dfrost
