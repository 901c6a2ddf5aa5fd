#include "train/method.h"

#include <gtest/gtest.h>

#include <string>

#include "support/support.h"

namespace dfrost {
namespace {

TEST(LocalMethods, AreThePapersSettings) {
  EXPECT_EQ(local_method("dfrost").train.optimizer.kind, OptimizerKind::adam);
  EXPECT_EQ(local_method("dfrost").train.epochs, 5u);
  EXPECT_EQ(local_method("d-psgd").train.epochs, 1u);
  EXPECT_EQ(local_method("d-psgd").train.optimizer.momentum, 0);
  EXPECT_EQ(local_method("dfedavgm").train.optimizer.momentum, 0.99);
  EXPECT_EQ(local_method("dfedavgm").train.optimizer.sam_radius, 0);
  EXPECT_EQ(local_method("dfedsam").train.optimizer.sam_radius, 0.01);
  for (const auto& method : local_methods()) {
    EXPECT_NO_THROW(method.train.validate());
    EXPECT_EQ(method.train.batch, 16u);
    EXPECT_EQ(method.train.optimizer.learning_rate, 1e-4);
    EXPECT_EQ(method.prompts.selects(), method.name.ends_with('+')) << method.name;
  }
}

TEST(LocalMethods, APlusAddsAPoolAndNothingElse) {
  for (const std::string name : {"dfrost", "d-psgd", "dfedavgm", "dfedsam"}) {
    const auto &plain = local_method(name), &plus = local_method(name + "+");
    EXPECT_EQ(plus.prompts.pool, 20u);
    EXPECT_EQ(plus.prompts.count, plain.prompts.count);
    EXPECT_EQ(plus.train.epochs, plain.train.epochs);
    EXPECT_EQ(plus.train.optimizer.kind, plain.train.optimizer.kind);
    EXPECT_EQ(plus.train.optimizer.momentum, plain.train.optimizer.momentum);
    EXPECT_EQ(plus.train.optimizer.sam_radius, plain.train.optimizer.sam_radius);
  }
}

TEST(LocalMethods, SuggestTheNearestName) {
  test::expect_error(ErrorCode::invalid_argument, "did you mean 'dfedsam'", [] { local_method("dfedsan"); });
}

}  // namespace
}  // namespace dfrost
