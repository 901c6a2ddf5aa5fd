#include "train/update_methods.h"

#include <gtest/gtest.h>

#include <string>

#include "support/support.h"

namespace dfrost {
namespace {

TEST(LocalMethods, AreThePapersSettings) {
  EXPECT_EQ(method_preset("dfrost").train.optimizer.kind, OptimizerKind::adam);
  EXPECT_EQ(method_preset("dfrost").train.epochs, 5u);
  EXPECT_EQ(method_preset("d-psgd").train.epochs, 1u);
  EXPECT_EQ(method_preset("d-psgd").train.optimizer.momentum, 0);
  EXPECT_EQ(method_preset("dfedavgm").train.optimizer.momentum, 0.99);
  EXPECT_EQ(method_preset("dfedavgm").train.optimizer.sam_radius, 0);
  EXPECT_EQ(method_preset("dfedsam").train.optimizer.sam_radius, 0.01);
  for (const auto& method : test::update_methods()) {
    EXPECT_NO_THROW(method.train.validate());
    EXPECT_EQ(method.train.batch, 16u);
    if (method.name != "dfrost-plus") {
      EXPECT_EQ(method.train.optimizer.learning_rate, 1e-4) << method.name;
      EXPECT_EQ(method.train.frame.coordinates, HeadCoordinates::raw) << method.name;
      EXPECT_EQ(method.head_merge, HeadMerge::average) << method.name;
    }
    EXPECT_EQ(method.prompts.selects(), method.name.ends_with('+')) << method.name;
  }
}

TEST(LocalMethods, OursIsWhatWasMeasuredToBeBest) {
  const auto& plus = method_preset("dfrost-plus");
  EXPECT_EQ(plus.train.optimizer.kind, OptimizerKind::sgd);
  EXPECT_EQ(plus.train.optimizer.learning_rate, 0.03);
  EXPECT_EQ(plus.train.optimizer.momentum, 0.9);
  EXPECT_EQ(plus.train.epochs, 5u);
  EXPECT_EQ(plus.train.prompt_epochs, 1u);
  EXPECT_EQ(plus.train.prompt_rate, 0.03);
  EXPECT_EQ(plus.train.frame.coordinates, HeadCoordinates::whitened);
  EXPECT_EQ(plus.merge, MergeKind::average);
  EXPECT_EQ(plus.head_merge, HeadMerge::class_mass);
  EXPECT_FALSE(plus.prompts.selects());
}

TEST(LocalMethods, APlusAddsAPoolAndNothingElse) {
  for (const std::string name : {"dfrost", "d-psgd", "dfedavgm", "dfedsam"}) {
    const auto &plain = method_preset(name), &plus = method_preset(name + "+");
    EXPECT_EQ(plus.prompts.pool, 20u);
    EXPECT_EQ(plus.prompts.count, plain.prompts.count);
    EXPECT_EQ(plus.train.epochs, plain.train.epochs);
    EXPECT_EQ(plus.train.optimizer.kind, plain.train.optimizer.kind);
    EXPECT_EQ(plus.train.optimizer.momentum, plain.train.optimizer.momentum);
    EXPECT_EQ(plus.train.optimizer.sam_radius, plain.train.optimizer.sam_radius);
  }
}

TEST(LocalMethods, SuggestTheNearestName) {
  test::expect_error(ErrorCode::invalid_argument, "did you mean 'dfedsam'", [] { method_preset("dfedsan"); });
}

}  // namespace
}  // namespace dfrost
