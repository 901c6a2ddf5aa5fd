#include "train/evaluate.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/thread_pool.h"
#include "support/support.h"
#include "train/local_update.h"
#include "train/samples.h"

namespace dfrost {
namespace {

std::vector<std::size_t> all_of(const SampleSource& source) {
  std::vector<std::size_t> samples(source.size());
  std::iota(samples.begin(), samples.end(), std::size_t{0});
  return samples;
}

TEST(Evaluate, CountsEachDomainAndFindsLearntSamplesRight) {
  const auto backbone = test::tiny_backbone();
  const test::MemorySamples samples(*backbone, 24, test::kDomains, 1);
  const AdapterOptions adapter{.head = {.classes = 6}};
  auto state = make_client_state(adapter, backbone->geometry(), 1, 0);
  Workspace workspace(*backbone);
  const auto before = evaluate(adapter, state, samples, all_of(samples), {}, workspace).total();
  const TrainOptions options = {.optimizer = {.learning_rate = 0.01}, .epochs = 40, .mask = ClassMask::none};
  local_update(adapter, state, samples, options, {}, workspace);
  const auto after = evaluate(adapter, state, samples, all_of(samples), {.batch = 7}, workspace);
  ASSERT_EQ(after.domains.size(), 2u);
  std::size_t in_first = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) in_first += samples.domain(i) == 0;
  EXPECT_EQ(after.domains[0].samples, in_first);
  EXPECT_EQ(after.total().samples, 24u);
  EXPECT_EQ(after.total().accuracy_unmasked(), 1);
  EXPECT_EQ(after.total().accuracy_masked(), 1);
  EXPECT_LT(after.total().loss(), 0.2 * before.loss());
}

TEST(Evaluate, TheMaskNeverHurtsAndTheLossFollowsTheMaskAskedFor) {
  const auto backbone = test::tiny_backbone();
  const test::MemorySamples samples(*backbone, 40, test::kDomains, 1);
  const AdapterOptions adapter{.head = {.classes = 6}};
  const auto state = make_client_state(adapter, backbone->geometry(), 1, 0);
  Workspace workspace(*backbone);
  const auto masked = evaluate(adapter, state, samples, all_of(samples), {}, workspace).total();
  const auto open =
      evaluate(adapter, state, samples, all_of(samples), {.mask = ClassMask::none}, workspace).total();
  EXPECT_GE(masked.correct_masked, masked.correct_unmasked);
  EXPECT_EQ(masked.correct_masked, open.correct_masked);
  EXPECT_EQ(masked.correct_unmasked, open.correct_unmasked);
  EXPECT_LT(masked.loss(), open.loss());
}

TEST(Evaluate, GivesTheSameOnAnyNumberOfThreadsAndTheLossOfTheFirstTrainingEpoch) {
  const auto backbone = test::tiny_backbone();
  const test::MemorySamples samples(*backbone, 13, test::kDomains, 1);
  const AdapterOptions adapter{.prompts = {.count = 3, .pool = 5},
                               .head = {.kind = HeadKind::mlp, .classes = 6}};
  auto state = make_client_state(adapter, backbone->geometry(), 1, 0);
  Workspace workspace(*backbone);
  ThreadPool threads(3);
  const auto alone = evaluate(adapter, state, samples, all_of(samples), {}, workspace).total();
  const auto shared = evaluate(adapter, state, samples, all_of(samples), {}, workspace, &threads).total();
  EXPECT_EQ(alone.loss_sum, shared.loss_sum);
  EXPECT_EQ(alone.correct_masked, shared.correct_masked);
  const auto summary = local_update(adapter, state, samples, {.epochs = 1}, {}, workspace);
  EXPECT_NEAR(summary.epoch_loss[0], alone.loss(), 1e-5);
}

TEST(Evaluate, OfNothingIsZeroAndAStateOfAnotherAdapterIsRefused) {
  const auto backbone = test::tiny_backbone();
  const test::MemorySamples samples(*backbone, 2, test::kDomains, 1);
  const AdapterOptions adapter{.head = {.classes = 6}};
  const auto state = make_client_state(adapter, backbone->geometry(), 1, 0);
  Workspace workspace(*backbone);
  const auto total = evaluate(adapter, state, samples, {}, {}, workspace).total();
  EXPECT_EQ(total.samples, 0u);
  EXPECT_EQ(total.accuracy_masked(), 0);
  test::expect_error(ErrorCode::failed_precondition, "not made for this adapter", [&] {
    evaluate({.head = {.classes = 7}}, state, samples, all_of(samples), {}, workspace);
  });
  test::expect_error(ErrorCode::invalid_argument, "evaluate.batch",
                     [&] { evaluate(adapter, state, samples, all_of(samples), {.batch = 0}, workspace); });
}

}  // namespace
}  // namespace dfrost
