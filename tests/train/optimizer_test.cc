#include "train/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "support/support.h"

namespace dfrost {
namespace {

OptimizerState started(const OptimizerOptions& options, std::size_t size) {
  OptimizerState state;
  state.start(options, size);
  return state;
}

TEST(Optimizer, AdamMovesEveryValueByTheLearningRateInItsFirstStepWhateverTheGradient) {
  const OptimizerOptions options = {.kind = OptimizerKind::adam, .learning_rate = 0.01};
  auto state = started(options, 3);
  std::vector<float> values = {1.0f, 2.0f, 3.0f};
  descend(options, std::vector<float>{1e-3f, -50.0f, 0.0f}, state, values);
  EXPECT_NEAR(values[0], 0.99, 1e-6);
  EXPECT_NEAR(values[1], 2.01, 1e-6);
  EXPECT_EQ(values[2], 3.0f);
}

TEST(Optimizer, MomentumAddsUpToTheGeometricSeries) {
  const OptimizerOptions options = {.kind = OptimizerKind::sgd, .learning_rate = 0.1, .momentum = 0.5};
  auto state = started(options, 1);
  std::vector<float> values = {0.0f};
  for (int step = 0; step < 3; ++step) descend(options, std::vector<float>{1.0f}, state, values);
  EXPECT_NEAR(values[0], -0.1 * (1.0 + 1.5 + 1.75), 1e-7);
}

TEST(Optimizer, NoneIsTakenForAnother) {
  std::set<std::string_view> words;
  for (const auto kind : optimizer_kinds()) words.insert(to_string(kind));
  EXPECT_EQ(words.size(), optimizer_kinds().size());
  const OptimizerOptions unheard_of = {.kind = static_cast<OptimizerKind>(99)};
  OptimizerState state;
  std::vector<float> values = {1.0f};
  test::expect_error(ErrorCode::internal, "train.optimizer", [&] { state.start(unheard_of, 1); });
  test::expect_error(ErrorCode::internal, "train.optimizer",
                     [&] { descend(unheard_of, std::vector<float>{1.0f}, state, values); });
  EXPECT_EQ(values, std::vector<float>{1.0f});
}

TEST(Optimizer, StartForgetsWhatWasBefore) {
  for (const auto kind : optimizer_kinds()) {
    const OptimizerOptions options = {.kind = kind, .learning_rate = 0.1, .momentum = 0.9};
    auto used = started(options, 2);
    std::vector<float> scratch = {5.0f, 6.0f};
    descend(options, std::vector<float>{3.0f, 4.0f}, used, scratch);
    EXPECT_EQ(used.steps, 1u);
    used.start(options, 2);
    EXPECT_EQ(used, started(options, 2));
  }
}

TEST(Optimizer, RemembersTwoVectorsForAdamOneForMomentumAndNoneForPlainSgd) {
  const OptimizerOptions adam = {.kind = OptimizerKind::adam}, plain = {.kind = OptimizerKind::sgd};
  const OptimizerOptions momentum = {.kind = OptimizerKind::sgd, .momentum = 0.9};
  EXPECT_EQ(remembered_vectors(adam), 2u);
  EXPECT_EQ(remembered_vectors(momentum), 1u);
  EXPECT_EQ(remembered_vectors(plain), 0u);
  for (const auto& options : {adam, momentum, plain}) {
    const auto state = started(options, 7);
    EXPECT_EQ(state.first.size() + state.second.size(), 7 * remembered_vectors(options));
    for (const auto& other : {adam, momentum, plain})
      EXPECT_EQ(state.fits(other, 7), remembered_vectors(other) == remembered_vectors(options));
    EXPECT_EQ(state.fits(options, 8), remembered_vectors(options) == 0);
  }
}

TEST(AdaptiveSam, AscendsByTheRadiusInTheMetricOfTheWeights) {
  const std::vector<float> before = {1.0f, -2.0f, 0.0f, 0.5f}, gradient = {0.3f, 0.1f, 9.0f, -0.4f};
  auto values = before;
  ascend_adaptively(gradient, 0.05, values);
  double norm = 0, slope = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto move = static_cast<double>(values[i] - before[i]);
    slope += move * static_cast<double>(gradient[i]);
    if (before[i] != 0) norm += std::pow(move / static_cast<double>(before[i]), 2);
  }
  EXPECT_NEAR(std::sqrt(norm), 0.05, 1e-6);
  EXPECT_GT(slope, 0);
  EXPECT_EQ(values[2], 0.0f);  // a weight of zero has no room in this metric
}

TEST(AdaptiveSam, AscendsByTheRadiusHoweverTinyTheGradientsAre) {
  std::vector<float> values = {1.0f, 2.0f, 3.0f};
  ascend_adaptively(std::vector<float>{1e-42f, 0.0f, 0.0f}, 0.05, values);
  EXPECT_NEAR(values[0], 1.05f, 1e-6);
  EXPECT_EQ(values[1], 2.0f);
  EXPECT_EQ(values[2], 3.0f);
}

TEST(AdaptiveSam, StaysWhereTheGradientVanishes) {
  std::vector<float> values = {1.0f, 2.0f};
  ascend_adaptively(std::vector<float>{0.0f, 0.0f}, 0.05, values);
  EXPECT_EQ(values, (std::vector<float>{1.0f, 2.0f}));
}

TEST(OptimizerOptions, RefusesValuesWithoutMeaningAndNamesTheSetting) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto refuses = [](const char* place, const OptimizerOptions& options) {
    test::expect_error(ErrorCode::invalid_argument, place, [&] { options.validate(); });
  };
  refuses("train.learning_rate", {.learning_rate = 0});
  refuses("train.learning_rate", {.learning_rate = nan});
  refuses("train.momentum", {.momentum = 1});
  refuses("train.momentum", {.momentum = -0.1});
  refuses("train.beta2", {.beta2 = 1});
  refuses("train.epsilon", {.epsilon = 0});
  refuses("train.sam_radius", {.sam_radius = -1});
}

}  // namespace
}  // namespace dfrost
