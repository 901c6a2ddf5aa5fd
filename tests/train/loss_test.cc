#include "train/loss.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "support/support.h"

namespace dfrost {
namespace {

struct LossCase {
  std::vector<float> logits = std::vector<float>(4 * 7);
  std::array<Target, 4> targets = {{{0, {0, 3}}, {2, {0, 3}}, {3, {3, 4}}, {6, {3, 4}}}};

  explicit LossCase(Seed seed) {
    RandomStream stream(seed, "logits");
    for (float& logit : logits) logit = static_cast<float>(2.0 * stream.normal());
  }
  double mean_loss(ClassMask mask, std::vector<float>* gradient = nullptr) const {
    std::vector<Outcome> outcomes(4);
    cross_entropy({logits.data(), 4, 7}, targets, mask, outcomes,
                  gradient != nullptr ? MatrixView<float>(gradient->data(), 4, 7) : MatrixView<float>());
    double sum = 0;
    for (const auto& outcome : outcomes) sum += outcome.loss;
    return sum / 4;
  }
};

TEST(CrossEntropy, GradientMatchesFiniteDifferences) {
  for (const auto mask : {ClassMask::domain, ClassMask::none}) {
    LossCase at(1);
    std::vector<float> gradient(at.logits.size());
    at.mean_loss(mask, &gradient);
    for (std::size_t i = 0; i < at.logits.size(); ++i) {
      LossCase above(1), below(1);
      above.logits[i] += 0.01f;
      below.logits[i] -= 0.01f;
      const auto step = static_cast<double>(above.logits[i] - below.logits[i]);
      EXPECT_NEAR(gradient[i], (above.mean_loss(mask) - below.mean_loss(mask)) / step, 1e-5) << i;
    }
  }
}

TEST(CrossEntropy, IsTheLogarithmOfTheNumberOfClassesInPlayWhereAllLogitsAreEqual) {
  LossCase equal(1);
  equal.logits.assign(equal.logits.size(), 3.0f);
  EXPECT_NEAR(equal.mean_loss(ClassMask::domain), (std::log(3.0) + std::log(4.0)) / 2, 1e-12);
  EXPECT_NEAR(equal.mean_loss(ClassMask::none), std::log(7.0), 1e-12);
}

TEST(CrossEntropy, IgnoresOtherDomainsUnderTheMaskHoweverLargeTheirLogits) {
  const std::vector<float> logits = {1.0f, 0.0f, 80000.0f};
  const std::vector<Target> targets = {{0, {0, 2}}};
  std::vector<Outcome> outcomes(1);
  std::vector<float> gradient(3);
  cross_entropy({logits.data(), 1, 3}, targets, ClassMask::domain, outcomes, {gradient.data(), 1, 3});
  EXPECT_NEAR(outcomes[0].loss, std::log(1 + std::exp(-1.0)), 1e-12);
  EXPECT_TRUE(outcomes[0].correct_masked);
  EXPECT_FALSE(outcomes[0].correct_unmasked);
  EXPECT_EQ(gradient[2], 0.0f);
  cross_entropy({logits.data(), 1, 3}, targets, ClassMask::none, outcomes, {gradient.data(), 1, 3});
  EXPECT_NEAR(outcomes[0].loss, 79999, 1e-6);
  EXPECT_EQ(gradient[2], 1.0f);
}

TEST(CrossEntropy, RefusesALabelOutsideItsDomain) {
  const std::vector<float> logits(5);
  std::vector<Outcome> outcomes(1);
  for (const Target& target : {Target{3, {0, 3}}, Target{3, {2, 4}}, Target{0, {1, 2}}}) {
    test::expect_error(ErrorCode::failed_precondition, "does not lie in", [&] {
      cross_entropy({logits.data(), 1, 5}, {&target, 1}, ClassMask::none, outcomes, {});
    });
  }
}

}  // namespace
}  // namespace dfrost
