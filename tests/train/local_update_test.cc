#include "train/local_update.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "support/support.h"
#include "train/samples.h"
#include "train/update_methods.h"

namespace dfrost {
namespace {

AdapterOptions adapter_of(const MethodPreset& method, HeadKind head) {
  AdapterOptions adapter{.prompts = method.prompts, .head = {.kind = head, .classes = 6, .hidden = {16}}};
  adapter.prompts.count = 3;
  adapter.prompts.pool = adapter.prompts.pool == 0 ? 0 : 5;
  return adapter;
}

TEST(LocalUpdate, LossFallsOnABatchThatIsSeenAgainAndAgain) {
  const auto backbone = test::tiny_backbone();
  const test::MemorySamples samples(*backbone, 12, test::kDomains, 1);
  Workspace workspace(*backbone);
  for (const auto head : {HeadKind::linear, HeadKind::pfpt, HeadKind::mlp}) {
    for (const auto& method : test::update_methods()) {
      const auto adapter = adapter_of(method, head);
      auto state = make_client_state(adapter, backbone->geometry(), 1, 0);
      TrainOptions options = method.train;
      options.epochs = 30;
      options.optimizer.learning_rate = options.optimizer.kind == OptimizerKind::adam ? 0.01 : 0.002;
      if (options.optimizer.momentum == 0) options.optimizer.learning_rate *= 50;
      const auto summary = local_update(adapter, state, samples, options, {1, 0, 0}, workspace);
      EXPECT_LT(summary.epoch_loss.back(), 0.7 * summary.epoch_loss.front())
          << method.name << " " << to_string(head);
      EXPECT_TRUE(summary.finite);
    }
  }
}

TEST(LocalUpdate, SameKeySameBytesWhateverTheWorkspaceDidBefore) {
  const auto backbone = test::tiny_backbone();
  const test::MemorySamples samples(*backbone, 11, test::kDomains, 1),
      others(*backbone, 5, test::kDomains, 2);
  for (const auto& method : test::update_methods()) {
    const auto adapter = adapter_of(method, HeadKind::pfpt);
    const auto start = make_client_state(adapter, backbone->geometry(), 1, 0);
    TrainOptions options = method.train;
    options.batch = 4;
    options.epochs = 2;
    Workspace fresh(*backbone), used(*backbone);
    auto a = start, b = start, c = start, other = start;
    local_update(adapter, a, samples, options, {1, 2, 3}, fresh);
    local_update(adapter, other, others, options, {9, 9, 9}, used);
    std::thread([&] { local_update(adapter, b, samples, options, {1, 2, 3}, used); }).join();
    local_update(adapter, c, samples, options, {1, 2, 4}, used);
    EXPECT_EQ(a.values, b.values) << method.name;
    EXPECT_NE(a.values, c.values) << method.name << ": another round has another data order";
  }
}

TEST(LocalUpdate, VisitsEveryImageOncePerEpochAndTheLastBatchMayBeSmaller) {
  const auto backbone = test::tiny_backbone();
  const test::MemorySamples samples(*backbone, 11, test::kDomains, 1);
  const auto adapter = adapter_of(method_preset("dfrost"), HeadKind::linear);
  auto state = make_client_state(adapter, backbone->geometry(), 1, 0);
  Workspace workspace(*backbone);
  const auto summary = local_update(adapter, state, samples, {.batch = 4, .epochs = 3}, {}, workspace);
  EXPECT_EQ(summary.steps, 9u);
  EXPECT_EQ(summary.images, 33u);
  EXPECT_EQ(summary.epoch_loss.size(), 3u);
}

TEST(LocalUpdate, EndsAfterTheStepsItMayTakeAndTellsWhatItSaw) {
  const auto backbone = test::tiny_backbone();
  const test::MemorySamples samples(*backbone, 11, test::kDomains, 1);
  const auto adapter = adapter_of(method_preset("dfrost"), HeadKind::pfpt);
  const auto start = make_client_state(adapter, backbone->geometry(), 1, 0);
  Workspace workspace(*backbone);
  struct Expected {
    std::size_t most, steps, images, epochs;
  };
  // Three batches an epoch: 4, 4 and 3 images.
  for (const auto& e : {Expected{1, 1, 4, 1}, {3, 3, 11, 1}, {4, 4, 15, 2}, {6, 6, 22, 2}, {7, 6, 22, 2}}) {
    auto state = start;
    const TrainOptions options = {.batch = 4, .epochs = 2, .max_steps = e.most};
    const auto summary = local_update(adapter, state, samples, options, {}, workspace);
    EXPECT_EQ(summary.steps, e.steps) << e.most;
    EXPECT_EQ(summary.images, e.images) << e.most;
    ASSERT_EQ(summary.epoch_loss.size(), e.epochs) << e.most;
    EXPECT_GT(summary.epoch_loss.back(), 0) << e.most;
  }
  // As many steps as there are in an epoch are an epoch, to the byte.
  auto a = start, b = start;
  local_update(adapter, a, samples, {.batch = 4, .epochs = 5, .max_steps = 3}, {}, workspace);
  local_update(adapter, b, samples, {.batch = 4, .epochs = 1}, {}, workspace);
  EXPECT_EQ(a.values, b.values);
}

// D-PSGD's "one mini-batch": w − rate · the gradient at w, and nothing else.
TEST(LocalUpdate, OneStepOfPlainSgdIsTheGradientOfTheFirstBatch) {
  const auto backbone = test::tiny_backbone();
  const test::MemorySamples samples(*backbone, 11, test::kDomains, 1);
  const auto adapter = adapter_of(method_preset("d-psgd"), HeadKind::linear);
  TrainOptions options = method_preset("d-psgd").train;
  options.batch = 4;
  options.max_steps = 1;
  options.optimizer.learning_rate = 0.5;
  const RandomKey key = {.seed = 5, .client = 1, .round = 9};
  auto state = make_client_state(adapter, backbone->geometry(), 1, 0);
  auto expected = state.values;
  Workspace workspace(*backbone);
  const auto order = data_order(key).permutation(samples.size());
  load_batch(adapter, samples, std::span(order).first(4), workspace);
  const double loss = differentiate_batch(adapter, state, options.mask, workspace);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] -= 0.5f * workspace.gradient[i];
  const auto summary = local_update(adapter, state, samples, options, key, workspace);
  EXPECT_EQ(summary.epoch_loss, std::vector<double>{loss});
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(state.values[i], expected[i], 1e-7) << i;
}

TEST(LocalUpdate, KeepsOfItsOptimizerOnlyWhatItIsToldTo) {
  const auto backbone = test::tiny_backbone();
  const test::MemorySamples samples(*backbone, 8, test::kDomains, 1);
  Workspace workspace(*backbone);
  for (const char* name : {"dfrost+", "dfedsam", "d-psgd"}) {
    const auto& method = method_preset(name);
    const auto adapter = adapter_of(method, HeadKind::mlp);
    const auto start = make_client_state(adapter, backbone->geometry(), 1, 0);
    TrainOptions fresh = method.train, kept = method.train;
    kept.optimizer_state = OptimizerMemory::kept;
    auto a = start, b = start;
    const auto steps = local_update(adapter, a, samples, fresh, {1, 2, 3}, workspace).steps;
    local_update(adapter, b, samples, kept, {1, 2, 3}, workspace);
    EXPECT_EQ(a.values, b.values) << name << ": nothing was there to be kept";
    EXPECT_EQ(a.optimizer, OptimizerState{}) << name;
    EXPECT_EQ(b.optimizer.steps, steps) << name;
    local_update(adapter, a, samples, fresh, {1, 2, 4}, workspace);
    local_update(adapter, b, samples, kept, {1, 2, 4}, workspace);
    EXPECT_EQ(a.values == b.values, remembered_vectors(method.train.optimizer) == 0) << name;
    EXPECT_EQ(b.optimizer.steps, 2 * steps) << name;
  }
}

TEST(LocalUpdate, RefusesWhatTheOptimizerOfAnotherAdapterRemembers) {
  const auto backbone = test::tiny_backbone();
  const test::MemorySamples samples(*backbone, 2, test::kDomains, 1);
  const AdapterOptions adapter{.head = {.classes = 6}};
  auto state = make_client_state(adapter, backbone->geometry(), 1, 0);
  state.optimizer = {.steps = 1, .first = {0.5f}, .second = {0.25f}};
  Workspace workspace(*backbone);
  test::expect_error(ErrorCode::failed_precondition, "not of this adapter", [&] {
    local_update(adapter, state, samples, {.optimizer_state = OptimizerMemory::kept}, {}, workspace);
  });
}

TEST(LocalUpdate, APoolThatLeavesNoChoiceIsThePlainMethod) {
  const auto backbone = test::tiny_backbone();
  const test::MemorySamples samples(*backbone, 6, test::kDomains, 1);
  Workspace workspace(*backbone);
  std::vector<std::vector<float>> results;
  for (const std::size_t pool : {0, 3}) {
    const AdapterOptions adapter{.prompts = {.count = 3, .pool = pool}, .head = {.classes = 6}};
    auto state = make_client_state(adapter, backbone->geometry(), 1, 0);
    local_update(adapter, state, samples, {.epochs = 1}, {}, workspace);
    results.push_back(state.values);
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST(LocalUpdate, AClientWithoutDataKeepsItsState) {
  const auto backbone = test::tiny_backbone();
  const test::MemorySamples nothing(*backbone, 0, test::kDomains, 1);
  const AdapterOptions adapter{.head = {.classes = 6}};
  auto state = make_client_state(adapter, backbone->geometry(), 1, 0);
  const auto before = state.values;
  Workspace workspace(*backbone);
  const auto summary = local_update(adapter, state, nothing, {}, {}, workspace);
  EXPECT_EQ(state.values, before);
  EXPECT_EQ(summary.steps, 0u);
}

TEST(LocalUpdate, SaysWhenTrainingDiverged) {
  const auto backbone = test::tiny_backbone();
  const test::MemorySamples samples(*backbone, 8, test::kDomains, 1);
  const AdapterOptions adapter{.head = {.classes = 6}};
  auto state = make_client_state(adapter, backbone->geometry(), 1, 0);
  Workspace workspace(*backbone);
  const TrainOptions options = {
      .optimizer = {.kind = OptimizerKind::sgd, .learning_rate = 1e38}, .batch = 2, .epochs = 3};
  EXPECT_FALSE(local_update(adapter, state, samples, options, {}, workspace).finite);
}

TEST(LocalUpdate, RefusesAStateOfAnotherAdapter) {
  const auto backbone = test::tiny_backbone();
  const test::MemorySamples samples(*backbone, 2, test::kDomains, 1);
  auto state = make_client_state({.head = {.classes = 6}}, backbone->geometry(), 1, 0);
  Workspace workspace(*backbone);
  test::expect_error(ErrorCode::failed_precondition, "not made for this adapter",
                     [&] { local_update({.head = {.classes = 7}}, state, samples, {}, {}, workspace); });
  test::expect_error(ErrorCode::invalid_argument, "train.batch", [&] {
    local_update({.head = {.classes = 6}}, state, samples, {.batch = 0}, {}, workspace);
  });
}

TEST(Dropout, DropsTheShareAskedForAndKeepsTheMean) {
  Matrix<float> factors(100, 512), again(100, 512), next(100, 512);
  draw_dropout({1, 2, 3}, 4, 0.25, factors);
  draw_dropout({1, 2, 3}, 4, 0.25, again);
  draw_dropout({1, 2, 3}, 5, 0.25, next);
  const std::span all(factors.data(), 100 * 512);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(all, 0.0f)) / 51200, 0.25, 0.01);
  EXPECT_EQ(*std::ranges::max_element(all), static_cast<float>(1 / 0.75));
  EXPECT_TRUE(std::equal(all.begin(), all.end(), again.data()));
  EXPECT_FALSE(std::equal(all.begin(), all.end(), next.data()));
}

}  // namespace
}  // namespace dfrost
