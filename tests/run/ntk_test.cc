// What rounds along the tangent kernel keep to beside the numbers, which federation_oracle_test.cc holds.
#include <gtest/gtest.h>

#include "config/methods.h"
#include "dfrost/error.h"
#include "run/small_simulation.h"

namespace dfrost {
namespace {

RunConfig kernel_config(const char* method) {
  auto config = test::small_config();
  apply_method(config, method);
  config.head.hidden = {5};
  if (config.prompts.count != 0) config.prompts.count = 4;
  config.ntk.steps = {5, 20};
  config.ntk.pictures = 2;  // of three or more
  return config;
}

TEST(Ntk, IsTheSameOnAnyThreadsAndAfterAStop) {
  for (const char* method : {"ntk-dfl", "ntk-head"}) {
    auto config = kernel_config(method);
    config.ntk.prompts = NtkPrompts::trained;
    auto whole = test::make_simulation(config);
    for (int round = 0; round < 3; ++round) whole.run_round();
    config.run.threads = 3;
    auto stopped = test::make_simulation(config);
    stopped.run_round();
    auto resumed = test::make_simulation(config);
    resumed.restore(1, stopped.state());
    resumed.run_round();
    resumed.run_round();
    EXPECT_EQ(resumed.state(), whole.state()) << method;
  }
}

TEST(Ntk, ExchangesThreeTimesAndSendsNoMorePicturesThanItMay) {
  const auto config = kernel_config("ntk-dfl");
  auto simulation = test::make_simulation(config);
  const auto record = simulation.run_round();
  EXPECT_EQ(record.sent_messages, 3 * 12u);  // a ring of six
  EXPECT_EQ(record.missing_messages + record.refused_messages, 0u);
  EXPECT_EQ(record.diverged_clients, 0u);
  ASSERT_TRUE(record.kernel.has_value());
  EXPECT_EQ(record.kernel->pictures, 3 * 2.0);
  EXPECT_EQ(record.kernel->steps, 20);
  EXPECT_GT(record.kernel->evaluations, 0);
  EXPECT_EQ(record.prompts_per_client, 0);

  auto more = config;
  more.ntk.pictures = 3;
  EXPECT_GT(test::make_simulation(more).run_round().sent_bytes, record.sent_bytes);
}

TEST(Ntk, LearnsWithoutNeighboursToo) {
  auto config = kernel_config("ntk-head");
  config.method.cooperation = Cooperation::none;
  config.ntk.pictures = 512;
  auto simulation = test::make_simulation(config);
  const double first = simulation.run_round().train_loss;
  EXPECT_LT(simulation.run_round().train_loss, first);
}

TEST(Ntk, IsRefusedWithWhatItCannotBeCombinedWith) {
  const auto expect_refused = [](const char* key, const auto& change) {
    auto config = kernel_config("ntk-head");
    change(config);
    try {
      config.validate();
      FAIL() << key;
    } catch (const Error& error) {
      EXPECT_EQ(error.place(), key);
      EXPECT_FALSE(error.hint().empty());
    }
  };
  expect_refused("head.kind", [](RunConfig& c) { c.head.kind = HeadKind::pfpt; });
  expect_refused("merge.head", [](RunConfig& c) { c.merge.head = HeadMerge::class_mass; });
  expect_refused("train.head_coordinates",
                 [](RunConfig& c) { c.train.frame.coordinates = HeadCoordinates::centred; });
  expect_refused("ntk.steps", [](RunConfig& c) { c.ntk.steps = {20, 5}; });
  expect_refused("method.round", [](RunConfig& c) { c.method.cooperation = Cooperation::server; });
  expect_refused("merge.pool", [](RunConfig& c) { c.merge.pool.kind = PoolMerge::pass_on; });
}

}  // namespace
}  // namespace dfrost
