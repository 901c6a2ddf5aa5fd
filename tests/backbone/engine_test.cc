#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "backbone/agreement.h"
#include "backbone/random_weights.h"
#include "backbone/reference_encoder.h"
#include "backbone/step.h"
#include "dfrost/backbone.h"
#include "support/support.h"

namespace dfrost {
namespace {

using test::run_step;
using test::StepInput;

std::unique_ptr<Backbone> fp32_backbone(const WeightSource& source) {
  return make_backbone(source, {.precision = Precision::fp32});
}

template <typename A, typename B>
double relative_error(const std::vector<A>& a, const std::vector<B>& b) {
  return test::compare(a, b).relative_error;
}

// Geometries at the edges: one block, a distillation token, odd sizes that fill no vector or tile.
std::vector<Geometry> edge_geometries() {
  const Geometry tiny = geometry_of_model("tiny");
  Geometry one_block = tiny, two_blocks = tiny, distilled = tiny, odd = tiny;
  one_block.depth = 1;
  two_blocks.depth = 2;
  distilled.special_tokens = 2;
  odd.width = 39;
  odd.heads = 3;
  odd.mlp_width = 50;
  odd.patch_size = 5;
  odd.image_size = 15;
  return {tiny, one_block, two_blocks, distilled, odd};
}

// Features in double for a whole batch, by the textbook encoder.
std::vector<double> reference_features(const ReferenceEncoder<double>& encoder, const Geometry& g,
                                       const StepInput& in, const std::vector<double>& prompts) {
  const std::size_t pixels = g.patches() * g.patch_values(), values = in.prompts * g.width;
  std::vector<double> all;
  for (std::size_t image = 0; image < in.images; ++image) {
    const std::vector<double> picture(in.pixels.begin() + static_cast<std::ptrdiff_t>(image * pixels),
                                      in.pixels.begin() + static_cast<std::ptrdiff_t>((image + 1) * pixels));
    const auto own = std::span(prompts).subspan(in.shared ? 0 : image * values, values);
    const auto features = encoder.features(encoder.embed(picture), own);
    all.insert(all.end(), features.begin(), features.end());
  }
  return all;
}

// d/de Σ d_features·features(prompts + e·direction) at 0, by central differences.
double derivative_along(const ReferenceEncoder<double>& encoder, const Geometry& g, const StepInput& in,
                        const std::vector<float>& direction) {
  constexpr double kStep = 1e-5;
  double ends[2];
  for (const int end : {0, 1}) {
    std::vector<double> prompts(in.prompt_values.begin(), in.prompt_values.end());
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      prompts[i] += (end == 0 ? -kStep : kStep) * static_cast<double>(direction[i]);
    }
    const auto features = reference_features(encoder, g, in, prompts);
    ends[end] = 0;
    for (std::size_t i = 0; i < features.size(); ++i) {
      ends[end] += features[i] * static_cast<double>(in.d_features[i]);
    }
  }
  return (ends[1] - ends[0]) / (2 * kStep);
}

TEST(Fp32Engine, AgreesWithTheTextbookEncoderInDouble) {
  for (const auto& g : edge_geometries()) {
    const RandomWeights weights(g, 1);
    const ReferenceEncoder<double> reference(weights);
    for (const bool shared : {true, false}) {
      const StepInput in(g, 3, 4, shared, 2);
      const std::vector<double> prompts(in.prompt_values.begin(), in.prompt_values.end());
      const auto expected = reference_features(reference, g, in, prompts);
      EXPECT_LT(relative_error(run_step(*fp32_backbone(weights), in).features, expected), 1e-5);
    }
  }
}

TEST(Fp32Engine, GradientMatchesFiniteDifferencesInDouble) {
  for (const auto& g : edge_geometries()) {
    const RandomWeights weights(g, 3);
    const ReferenceEncoder<double> reference(weights);
    for (const bool shared : {true, false}) {
      const StepInput in(g, 2, 3, shared, 4);
      const auto result = run_step(*fp32_backbone(weights), in);
      for (const Seed seed : {1, 2, 3}) {
        const auto direction = test::random_values(in.prompt_values.size(), 1.0, seed, "direction");
        double along = 0, size = 0;
        for (std::size_t i = 0; i < direction.size(); ++i) {
          along += static_cast<double>(direction[i]) * static_cast<double>(result.d_prompts[i]);
          size += std::pow(static_cast<double>(result.d_prompts[i]), 2);
        }
        EXPECT_NEAR(along, derivative_along(reference, g, in, direction), 1e-4 * std::sqrt(size));
      }
    }
  }
}

TEST(Fp32Engine, FeaturesDoNotChangeWhenPromptsArePermutedAndGradientsFollow) {
  const Geometry g = geometry_of_model("tiny");
  const RandomWeights weights(g, 5);
  const auto backbone = fp32_backbone(weights);
  const StepInput in(g, 2, 6, true, 6);
  StepInput reversed = in;
  const auto reverse_rows = [&](std::vector<float>& values) {
    for (std::size_t p = 0; p < 3; ++p) {
      std::swap_ranges(values.begin() + static_cast<std::ptrdiff_t>(p * g.width),
                       values.begin() + static_cast<std::ptrdiff_t>((p + 1) * g.width),
                       values.begin() + static_cast<std::ptrdiff_t>((5 - p) * g.width));
    }
  };
  reverse_rows(reversed.prompt_values);
  const auto a = run_step(*backbone, in);
  auto b = run_step(*backbone, reversed);
  EXPECT_LT(relative_error(b.features, a.features), 1e-6);
  reverse_rows(b.d_prompts);
  EXPECT_LT(relative_error(b.d_prompts, a.d_prompts), 1e-5);
}

TEST(Fp32Engine, ABatchGivesWhatItsImagesGiveOneByOne) {
  const Geometry g = geometry_of_model("tiny");
  const RandomWeights weights(g, 7);
  const auto backbone = fp32_backbone(weights);
  const StepInput batch(g, 11, 4, false, 8);  // more than one chunk, and a last one that is not full
  const auto whole = run_step(*backbone, batch);
  const auto slice = [](const std::vector<float>& all, std::size_t i) {
    const auto size = static_cast<std::ptrdiff_t>(all.size() / 11);
    return std::vector<float>(all.begin() + static_cast<std::ptrdiff_t>(i) * size,
                              all.begin() + static_cast<std::ptrdiff_t>(i + 1) * size);
  };
  for (std::size_t image = 0; image < 11; ++image) {
    StepInput one(g, 1, 4, false, 8);
    one.pixels = slice(batch.pixels, image);
    one.prompt_values = slice(batch.prompt_values, image);
    one.d_features = slice(batch.d_features, image);
    const auto alone = run_step(*backbone, one);
    EXPECT_LT(relative_error(alone.features, slice(whole.features, image)), 1e-6);
    EXPECT_LT(relative_error(alone.d_prompts, slice(whole.d_prompts, image)), 1e-5);
  }
}

TEST(Fp32Engine, GivesTheSameBitsAtAnyNumberOfThreads) {
  const Geometry g = geometry_of_model("tiny");
  const RandomWeights weights(g, 9);
  const auto backbone = fp32_backbone(weights);
  const StepInput in(g, 37, 5, true, 10);
  const auto expected = run_step(*backbone, in);
  for (const std::size_t count : {1, 2, 3, 8}) {
    ThreadPool threads(count);
    const auto result = run_step(*backbone, in, &threads);
    EXPECT_EQ(result.features, expected.features) << count << " threads";
    EXPECT_EQ(result.d_prompts, expected.d_prompts) << count << " threads";
  }
}

TEST(Fp32Engine, ForwardWithoutATapeGivesTheSameFeatures) {
  const Geometry g = geometry_of_model("tiny");
  const RandomWeights weights(g, 11);
  const auto inference = make_backbone(weights, {.precision = Precision::fp32, .training = false});
  const StepInput in(g, 9, 4, true, 12);
  const auto expected = run_step(*fp32_backbone(weights), in).features;
  const std::size_t rows = in.images * g.patches();
  std::vector<float> patches(rows * g.width), features(expected.size());
  inference->embed({in.pixels.data(), rows, g.patch_values()}, {patches.data(), rows, g.width}, nullptr);
  inference->forward({9, 4, {patches.data(), rows, g.width}, {in.prompt_values.data(), 4, g.width}},
                     {features.data(), 9, g.width}, nullptr, nullptr);
  EXPECT_EQ(features, expected);
  EXPECT_LT(inference->weight_bytes(), fp32_backbone(weights)->weight_bytes());
}

TEST(Fp32Engine, RunsWithoutPrompts) {
  const Geometry g = geometry_of_model("tiny");
  const RandomWeights weights(g, 13);
  const StepInput in(g, 2, 0, true, 14);
  const auto expected = reference_features(ReferenceEncoder<double>(weights), g, in, {});
  EXPECT_LT(relative_error(run_step(*fp32_backbone(weights), in).features, expected), 1e-5);
}

// DeiT with its distillation token but without that token's classifier, as Hugging Face publishes it.
class WeightsWithHeads final : public RandomWeights {
 public:
  WeightsWithHeads(const Geometry& g, std::size_t heads) : RandomWeights(g, 17), heads_(heads) {}
  std::vector<LinearWeights> read_heads() const override {
    auto heads = RandomWeights::read_heads();
    heads.resize(heads_);
    return heads;
  }

 private:
  std::size_t heads_;
};

TEST(Fp32Engine, ClassifyBackwardIsTheTransposeOfClassify) {
  for (const auto& [specials, heads] : {std::pair(1, 1), std::pair(2, 2), std::pair(2, 1)}) {
    Geometry g = geometry_of_model("tiny");
    g.special_tokens = specials;
    const auto backbone = fp32_backbone(WeightsWithHeads(g, heads));
    constexpr std::size_t kImages = 3;
    const std::size_t rows = kImages * specials;
    const auto features = test::random_values(rows * g.width, 1.0, 1, "features");
    const auto d_logits = test::random_values(kImages * g.classes, 1.0, 2, "gradient");
    std::vector<float> zero(features.size()), d_features(features.size(), 7.0f);  // 7: to be overwritten
    std::vector<float> logits(d_logits.size()), at_zero(d_logits.size());
    backbone->classify({features.data(), rows, g.width}, {logits.data(), kImages, g.classes});
    backbone->classify({zero.data(), rows, g.width}, {at_zero.data(), kImages, g.classes});
    backbone->classify_backward({d_logits.data(), kImages, g.classes}, {d_features.data(), rows, g.width});
    double forward = 0, backward = 0;  // ⟨W·f, d⟩ and ⟨f, Wᵀ·d⟩
    for (std::size_t i = 0; i < logits.size(); ++i) {
      forward += static_cast<double>(logits[i] - at_zero[i]) * static_cast<double>(d_logits[i]);
    }
    for (std::size_t i = 0; i < features.size(); ++i) {
      backward += static_cast<double>(features[i]) * static_cast<double>(d_features[i]);
    }
    EXPECT_NEAR(forward, backward, 1e-4);
    EXPECT_GT(std::abs(backward), 1e-2);
  }
}

TEST(Fp32Engine, RefusesShapesThatDoNotFit) {
  const Geometry g = geometry_of_model("tiny");
  const auto backbone = fp32_backbone(RandomWeights(g, 15));
  std::vector<float> values(100 * g.width);
  const MatrixView<float> wrong(values.data(), 3, g.width - 1), rows(values.data(), g.patches(), g.width);
  test::expect_error(ErrorCode::failed_precondition, "patches must be", [&] {
    backbone->forward({1, 0, wrong, {}}, wrong, nullptr, nullptr);
  });
  test::expect_error(ErrorCode::failed_precondition, "as long as a token", [&] {
    backbone->forward({1, 3, rows, wrong}, rows.rows_from(0, 1), nullptr, nullptr);
  });
  test::expect_error(ErrorCode::failed_precondition, "3·patch²",
                     [&] { backbone->embed(wrong, rows, nullptr); });
}

}  // namespace
}  // namespace dfrost
