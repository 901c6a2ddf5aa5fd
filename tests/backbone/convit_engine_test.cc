// ConViT in both arithmetics: fp32 as the measure, which PyTorch's equations are the measure of
// (convit_test.cc), and bf16 on AMX tiles, the machine's own or emulated ones.
#include <gtest/gtest.h>

#include "backbone/agreement.h"
#include "backbone/random_weights.h"
#include "backbone/step.h"
#include "backbone/weight_memory.h"
#include "dfrost/backbone.h"
#include "support/amx_emulator.h"

namespace dfrost {
namespace {

using test::run_step;
using test::StepInput;

Geometry small_convit(std::size_t heads, std::size_t head_size, std::size_t depth, std::size_t gated,
                      std::size_t grid) {
  return {.width = heads * head_size,
          .depth = depth,
          .heads = heads,
          .mlp_width = 2 * heads * head_size,
          .patch_size = 4,
          .image_size = 4 * grid,
          .classes = 10,
          .gated_blocks = gated,
          .architecture = "convit"};
}

// Heads of the published size, heads that fill tiles and heads that fill none, a single block behind the
// gated ones, a single gated block, and none.
std::vector<Geometry> small_convits() {
  auto odd = small_convit(3, 13, 4, 2, 3);
  odd.mlp_width = 50;
  return {small_convit(2, 48, 4, 2, 4), small_convit(2, 32, 3, 2, 5), small_convit(4, 16, 3, 1, 6),
          small_convit(1, 48, 2, 0, 3), odd};
}

TEST(ConvitEngine, InBf16AgreesWithFp32AtEveryEdge) {
  const test::Bf16ForTest bf16_here;
  for (const auto& g : small_convits()) {
    const RandomConvit weights(g, 1);
    const auto fp32 = make_backbone(weights, {.precision = Precision::fp32});
    const auto bf16 = make_backbone(weights, {.precision = Precision::bf16});
    ASSERT_EQ(bf16->precision(), Precision::bf16);
    for (const std::size_t prompts : {0, 4, 10}) {
      for (const bool shared : {true, false}) {
        SCOPED_TRACE(std::to_string(g.width) + " wide, " + std::to_string(prompts) + " prompts");
        const StepInput in(g, 3, prompts, shared, 2);
        const auto expected = run_step(*fp32, in), got = run_step(*bf16, in);
        EXPECT_LT(test::compare(got.features, expected.features).relative_error, 1e-2);
        if (prompts > 0) {
          EXPECT_GT(test::compare(got.d_prompts, expected.d_prompts).cosine, 0.999);
        }
      }
    }
  }
}

// Gates and positions must count: without them bf16 and fp32 could agree on another model.
TEST(ConvitEngine, IsNotThePlainTransformerOfTheSameWeights) {
  const Geometry g = small_convit(2, 48, 4, 2, 4);
  Geometry plain = g;
  plain.architecture = "vit";
  const StepInput in(g, 2, 4, true, 2);
  const auto convit = make_backbone(*random_weights(g, 1), {.precision = Precision::fp32});
  const auto vit = make_backbone(*random_weights(plain, 1), {.precision = Precision::fp32});
  EXPECT_GT(test::compare(run_step(*convit, in).features, run_step(*vit, in).features).relative_error, 0.05);
}

void expect_same_at_any_number_of_threads(Precision precision) {
  const Geometry g = small_convit(2, 48, 3, 2, 4);
  const auto backbone = make_backbone(RandomConvit(g, 3), {.precision = precision});
  const StepInput in(g, 19, 5, true, 4);
  const auto expected = run_step(*backbone, in);
  for (const std::size_t count : {2, 3}) {
    ThreadPool threads(count);
    const auto result = run_step(*backbone, in, &threads);
    EXPECT_EQ(result.features, expected.features) << count << " threads";
    EXPECT_EQ(result.d_prompts, expected.d_prompts) << count << " threads";
  }
}

TEST(ConvitEngine, GivesTheSameBitsAtAnyNumberOfThreads) {
  const test::Bf16ForTest bf16_here;
  expect_same_at_any_number_of_threads(Precision::fp32);
  expect_same_at_any_number_of_threads(Precision::bf16);
}

// Image by image, each with prompts of its own, and all at once.
void expect_an_image_alone(Precision precision) {
  const Geometry g = small_convit(2, 48, 3, 2, 4);
  const auto backbone = make_backbone(RandomConvit(g, 3), {.precision = precision});
  const StepInput all(g, 11, 3, false, 4);
  const auto expected = run_step(*backbone, all);
  const auto part = [](const std::vector<float>& values, std::size_t image, std::size_t images) {
    const auto size = static_cast<std::ptrdiff_t>(values.size() / images);
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(image) * size;
    return std::vector<float>(begin, begin + size);
  };
  for (std::size_t image = 0; image < all.images; ++image) {
    StepInput one(g, 1, 3, false, 4);
    one.pixels = part(all.pixels, image, all.images);
    one.prompt_values = part(all.prompt_values, image, all.images);
    one.d_features = part(all.d_features, image, all.images);
    const auto got = run_step(*backbone, one);
    EXPECT_EQ(got.features, part(expected.features, image, all.images)) << image;
    EXPECT_EQ(got.d_prompts, part(expected.d_prompts, image, all.images)) << image;
  }
}

TEST(ConvitEngine, GivesAnImageTheSameBitsAloneAndAnywhereInABatch) {
  const test::Bf16ForTest bf16_here;
  expect_an_image_alone(Precision::fp32);
  expect_an_image_alone(Precision::bf16);
}

TEST(ConvitEngine, TakesTheMemoryThatIsSaid) {
  const test::Bf16ForTest bf16_here;
  // Whole tiles, and enough patches that the zeros around their rows are little.
  Geometry g = small_convit(4, 32, 4, 3, 16);
  g.patch_size = 8;
  g.image_size = 128;
  for (const auto precision : {Precision::fp32, Precision::bf16}) {
    for (const bool training : {true, false}) {
      const auto backbone = make_backbone(RandomConvit(g, 1), {.precision = precision, .training = training});
      const auto said = static_cast<double>(packed_weight_bytes(g, precision, training));
      EXPECT_NEAR(static_cast<double>(backbone->weight_bytes()) / said, 1.0,
                  precision == Precision::fp32 ? 0.02 : 0.1);
    }
  }
}

}  // namespace
}  // namespace dfrost
