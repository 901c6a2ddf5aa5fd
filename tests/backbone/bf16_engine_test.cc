// The bf16 engine on AMX tiles: the machine's own, or emulated ones where it has none.
#include <gtest/gtest.h>

#include <cmath>

#include "backbone/agreement.h"
#include "backbone/chunked_backbone.h"
#include "backbone/random_weights.h"
#include "backbone/step.h"
#include "dfrost/backbone.h"
#include "kernels/cpu.h"
#include "support/amx_emulator.h"
#include "support/support.h"

namespace dfrost {
namespace {

using test::run_step;
using test::StepInput;

TEST(Bf16Engine, AgreesWithTheFp32EngineAtEveryEdge) {
  const test::Bf16ForTest bf16_here;
  const Geometry tiny = geometry_of_model("tiny");
  Geometry one_block = tiny, distilled = tiny, odd = tiny;
  one_block.depth = 1;
  distilled.special_tokens = 2;
  odd.width = 39;
  odd.heads = 3;
  odd.mlp_width = 50;
  odd.patch_size = 5;
  odd.image_size = 15;
  for (const auto& g : {tiny, one_block, distilled, odd}) {
    const RandomWeights weights(g, 1);
    const auto fp32 = make_backbone(weights, {.precision = Precision::fp32});
    const auto bf16 = make_backbone(weights, {.precision = Precision::bf16});
    ASSERT_EQ(bf16->precision(), Precision::bf16);
    for (const bool shared : {true, false}) {
      const StepInput in(g, 3, 4, shared, 2);
      const auto expected = run_step(*fp32, in), got = run_step(*bf16, in);
      EXPECT_LT(test::compare(got.features, expected.features).relative_error, 2e-2);
      EXPECT_GT(test::compare(got.d_prompts, expected.d_prompts).cosine, 0.999);
    }
  }
}

TEST(Bf16Engine, GivesTheSameBitsAtAnyNumberOfThreads) {
  const test::Bf16ForTest bf16_here;
  const Geometry g = geometry_of_model("tiny");
  const auto backbone = make_backbone(RandomWeights(g, 3), {.precision = Precision::bf16});
  const StepInput in(g, 19, 5, true, 4);
  const auto expected = run_step(*backbone, in);
  for (const std::size_t count : {2, 3}) {
    ThreadPool threads(count);
    const auto result = run_step(*backbone, in, &threads);
    EXPECT_EQ(result.features, expected.features) << count << " threads";
    EXPECT_EQ(result.d_prompts, expected.d_prompts) << count << " threads";
  }
}

TEST(Bf16Engine, CutsABatchIntoChunksOfManyRowsButLeavesNoThreadIdle) {
  EXPECT_EQ(images_per_bf16_chunk(16, 60, 1), 16u);  // ViT-B/32 with ten prompts
  EXPECT_EQ(images_per_bf16_chunk(16, 60, 2), 8u);
  EXPECT_EQ(images_per_bf16_chunk(64, 60, 2), 16u);
  EXPECT_EQ(images_per_bf16_chunk(16, 207, 1), 4u);
  EXPECT_EQ(images_per_bf16_chunk(1, 2000, 4), 1u);
  EXPECT_EQ(images_per_bf16_chunk(0, 60, 2), 1u);
}

TEST(Precision, AutoFallsBackToFp32WithoutAUnitForBf16WhichIsRefused) {
  const ScopedBf16UnitForTesting none(Bf16Unit::none);
  const RandomWeights weights(geometry_of_model("tiny"), 5);
  EXPECT_EQ(make_backbone(weights, {})->precision(), Precision::fp32);
  test::expect_error(ErrorCode::invalid_argument, "cannot run bf16",
                     [&] { make_backbone(weights, {.precision = Precision::bf16}); });
}

TEST(Precision, AutoTakesBf16WhereTilesWork) {
  const test::AmxForTest amx;
  EXPECT_EQ(make_backbone(RandomWeights(geometry_of_model("tiny"), 5), {})->precision(), Precision::bf16);
}

}  // namespace
}  // namespace dfrost
