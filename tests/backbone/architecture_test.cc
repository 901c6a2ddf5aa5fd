#include "backbone/architecture.h"

#include <gtest/gtest.h>

#include "backbone/random_weights.h"
#include "backbone/small_checkpoint.h"
#include "backbone/weight_memory.h"
#include "support/support.h"

namespace dfrost {
namespace {

TensorDescriptions small_tensors() {
  TensorDescriptions tensors;
  for (const auto& [name, shape] : test::SmallCheckpoint().shapes) tensors[name] = {TensorType::f32, shape};
  return tensors;
}

TEST(Architecture, IsToldByTheNamesOfTheTensorsAndGoesWithTheGeometry) {
  const auto tensors = small_tensors();
  EXPECT_EQ(architecture_of(tensors).name, "vit");
  const auto layout = infer_layout(tensors, {}, 0);
  EXPECT_EQ(layout.geometry.architecture, "vit");
  EXPECT_EQ(&architecture_of(layout.geometry), &architecture_of(tensors));
}

TEST(Architecture, IsThatOfEveryFamilyOfNames) {
  for (const auto* name :
       {"patch_embed.proj.weight", "conv_proj.weight", "vit.embeddings.patch_embeddings.projection.weight",
        "deit.embeddings.patch_embeddings.projection.weight",
        "embeddings.patch_embeddings.projection.weight"}) {
    EXPECT_EQ(architecture_of(TensorDescriptions{{name, {}}}).name, "vit") << name;
  }
}

TEST(Architecture, OfAConvitIsToldByItsGates) {
  auto tensors = small_tensors();
  tensors["blocks.0.attn.gating_param"] = {TensorType::f32, {4}};
  EXPECT_EQ(architecture_of(tensors).name, "convit");
}

TEST(Architecture, ThatIsNotInTheTableIsABug) {
  Geometry geometry = geometry_of_model("tiny");
  geometry.architecture = "resnet";
  test::expect_error(ErrorCode::internal, "no architecture is called 'resnet'",
                     [&] { packed_weight_bytes(geometry, Precision::fp32, true); });
}

// One block of width 2, one special token, one patch of 3·1 values, one prompt: small enough to count by
// hand.
TEST(VitFlops, AreTwoForEachMultiplyAddThatIsReallyMade) {
  Geometry g{.width = 2, .depth = 1, .heads = 1, .mlp_width = 5, .patch_size = 1, .image_size = 1};
  const auto one_block = architecture_of(g).flops(g, 1);
  // Embedding 3·2; keys and values of 3 tokens 3·8; query and projection of CLS 8; its MLP 20; scores and
  // sums over 3 tokens 2·6.
  EXPECT_EQ(one_block.forward, 2.0 * (6 + 24 + 8 + 20 + 12));
  // The same matrices without the embedding; attention has four products on its way back.
  EXPECT_EQ(one_block.backward, 2.0 * (24 + 8 + 20 + 24));
  g.depth = 2;
  const auto two_blocks = architecture_of(g).flops(g, 1);
  // A whole block runs for 3 tokens: four matrices of 4, the MLP's 20, attention 2·9·2.
  EXPECT_EQ(two_blocks.forward - one_block.forward, 2.0 * (3 * (16 + 20) + 36));
  // Back, attention costs twice that, and queries, keys and values are left out for the two that are no
  // prompt.
  EXPECT_EQ(two_blocks.backward - one_block.backward, 2.0 * (3 * (16 + 20) + 72 - 2 * 12));
}

// As above, with a gated block before the last one.
TEST(ConvitFlops, LeaveOutTheClassTokenWhereItHasNotJoined) {
  const Geometry g{.width = 2,
                   .depth = 2,
                   .heads = 1,
                   .mlp_width = 5,
                   .patch_size = 1,
                   .image_size = 1,
                   .gated_blocks = 1,
                   .architecture = "convit"};
  const auto flops = architecture_of(g).flops(g, 1);
  // The gated block runs for the prompt and the patch: matrices 2·(16 + 20), attention 2·4·2.
  EXPECT_EQ(flops.forward, 2.0 * (6 + 72 + 16 + 24 + 8 + 20 + 12));
  // Queries, keys and values go back for the prompt alone.
  EXPECT_EQ(flops.backward, 2.0 * (72 + 32 - 12 + 24 + 8 + 20 + 24));
}

}  // namespace
}  // namespace dfrost
