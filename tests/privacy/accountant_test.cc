// The accountant against what others have published, each with the conversion from divergence to ε that its
// source used, and the laws that any accountant keeps.
#include "privacy/accountant.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/random.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

std::vector<double> whole_orders(int first, int last) {
  std::vector<double> orders;
  for (int order = first; order <= last; ++order) orders.push_back(order);
  return orders;
}

// Those of TensorFlow Privacy's and Opacus' tutorials: 1.1, 1.2 … 10.9, 12, 13 … 63.
std::vector<double> tutorial_orders() {
  std::vector<double> orders;
  for (int tenths = 11; tenths < 110; ++tenths) orders.push_back(tenths / 10.0);
  for (const double order : whole_orders(12, 63)) orders.push_back(order);
  return orders;
}

const std::vector<double> kFewOrders = {1.25, 1.5, 1.75, 2,  2.5, 3,  4,  5,  6,  7,  8,
                                        10,   12,  14,   16, 20,  24, 28, 32, 64, 256};

struct Published {
  std::string source;
  std::vector<GaussianSteps> steps;
  std::vector<double> orders;
  DivergenceToEpsilon by;
  double epsilon;
};

constexpr double kMnist = 256.0 / 60'000;  // batches of 256, epochs of 234 steps

double mnist_steps(int epochs) { return std::floor(epochs * 60'000 / 256.0); }

const std::vector<Published> kPublished = {
    {"Abadi et al. (2016), section 3.2: the moments accountant where strong composition gives 9.34",
     {{0.01, 4, 10'000}},
     whole_orders(2, 33),
     DivergenceToEpsilon::mironov,
     1.26},
    {"TensorFlow Privacy, tutorials/README: noise 1.3, 15 epochs",
     {{kMnist, 1.3, mnist_steps(15)}},
     tutorial_orders(),
     DivergenceToEpsilon::mironov,
     1.19},
    {"TensorFlow Privacy, tutorials/README: noise 1.1, 60 epochs",
     {{kMnist, 1.1, mnist_steps(60)}},
     tutorial_orders(),
     DivergenceToEpsilon::mironov,
     3.01},
    {"TensorFlow Privacy, tutorials/README: noise 0.7, 45 epochs",
     {{kMnist, 0.7, mnist_steps(45)}},
     tutorial_orders(),
     DivergenceToEpsilon::mironov,
     7.10},
    {"TensorFlow Privacy, rdp_accountant_test: two phases of training",
     {{0.01, 4, 10'000}, {0.1, 2, 100}},
     kFewOrders,
     DivergenceToEpsilon::mironov,
     3.276237},
    {"TensorFlow Privacy, rdp_accountant_test: little sampling, little noise, then another phase",
     {{1e-4, 0.4, 40'000}, {0.1, 2, 100}},
     kFewOrders,
     DivergenceToEpsilon::mironov,
     8.509656},
    {"Opacus, accountants_test: noise 1.5, 2250 steps",
     {{0.04, 1.5, 2250}},
     tutorial_orders(),
     DivergenceToEpsilon::canonne,
     7.32911117143},
};

TEST(Accountant, IsWithinAPercentOfWhatOthersPublished) {
  for (const auto& [source, steps, orders, by, epsilon] : kPublished) {
    std::vector<double> divergences(orders.size(), 0.0);
    for (const auto& [rate, noise, count] : steps)
      for (std::size_t i = 0; i < orders.size(); ++i)
        divergences[i] += count * gaussian_divergence(rate, noise, orders[i]);
    EXPECT_NEAR(epsilon_of(orders, divergences, 1e-5, by), epsilon, 0.01 * epsilon) << source;
  }
}

// What a run is told is never more than they would say: more orders, and the tighter conversion.
TEST(Accountant, TellsNoMoreThanWasPublished) {
  for (const auto& published : kPublished)
    EXPECT_LE(epsilon_of(published.steps, 1e-5), 1.005 * published.epsilon) << published.source;
}

TEST(Accountant, AgreesWithPublishedDivergences) {
  // TensorFlow Privacy, rdp_accountant_test.
  EXPECT_NEAR(10 * gaussian_divergence(0.1, 2, 5), 0.07737, 5e-6);
  const std::vector<std::pair<double, double>> of_orders = {
      {1.5, 6.5007e-4}, {2.5, 1.0854e-3}, {5, 2.1808e-3}, {50, 2.3846e-2}, {100, 167.416307}};
  for (const auto& [order, divergence] : of_orders)
    EXPECT_NEAR(50 * gaussian_divergence(0.01, 2.5, order), divergence, 1e-4 * divergence);
}

TEST(Accountant, PicksTheNoiseThatOpacusPicks) {
  // Opacus, accountants_test; it stops where ε is 0.01 below the target.
  EXPECT_NEAR(noise_for(8, 1e-5, 0.04, 90 / 0.04), 1.416, 0.01 * 1.416);
  EXPECT_NEAR(noise_for(8, 1e-5, 0.04, 2000), 1.3562, 0.01 * 1.3562);
}

TEST(Accountant, KnowsTheGaussianMechanismWithoutSampling) {
  for (const double sigma : {0.3, 1.0, 7.0})
    for (const double order : {1.1, 2.0, 33.0}) {
      EXPECT_DOUBLE_EQ(gaussian_divergence(1, sigma, order), order / (2 * sigma * sigma));
      EXPECT_DOUBLE_EQ(gaussian_divergence(0, sigma, order), 0);
      // Nearly all are in every sample.
      EXPECT_NEAR(gaussian_divergence(1 - 1e-9, sigma, order), order / (2 * sigma * sigma),
                  1e-6 * order / (sigma * sigma));
    }
}

TEST(Accountant, PromisesNothingWithoutNoise) {
  EXPECT_TRUE(std::isinf(gaussian_divergence(0.1, 0, 2)));
  const GaussianSteps bare{0.1, 0, 1};
  EXPECT_TRUE(std::isinf(epsilon_of(std::span(&bare, 1), 1e-5)));
}

TEST(Accountant, HasSpentNothingBeforeTheFirstStep) {
  const std::vector<GaussianSteps> none, empty = {{0.1, 1, 0}};
  EXPECT_EQ(epsilon_of(none, 1e-5), 0);
  EXPECT_EQ(epsilon_of(empty, 1e-5), 0);
}

TEST(Accountant, SpendsMoreWithMoreStepsMorePicturesAndLessNoise) {
  RandomStream stream(1, "accountant");
  for (int trial = 0; trial < 20; ++trial) {
    const double rate = std::exp(stream.uniform(std::log(1e-4), std::log(0.9)));
    const double noise = stream.uniform(0.4, 8), count = std::floor(stream.uniform(1, 5000));
    const auto spent = [](double q, double sigma, double steps) {
      const GaussianSteps all{q, sigma, steps};
      return epsilon_of(std::span(&all, 1), 1e-5);
    };
    const double here = spent(rate, noise, count);
    SCOPED_TRACE(testing::Message() << rate << " " << noise << " " << count << " gives " << here);
    EXPECT_GT(here, 0);
    EXPECT_LT(here, spent(rate, noise, 1.5 * count));
    EXPECT_LT(here, spent(std::min(1.0, 1.1 * rate), noise, count));
    EXPECT_GT(here, spent(rate, 1.1 * noise, count));
    // Taken apart, it is the same.
    const std::vector<GaussianSteps> parts = {{rate, noise, 1}, {rate, noise, count - 1}};
    EXPECT_NEAR(epsilon_of(parts, 1e-5), here, 1e-9 * here);
  }
}

TEST(Accountant, DivergencesGrowFromOrderToOrderAcrossBothFormulas) {
  for (const double rate : {1e-3, 0.04, 0.5, 0.9})
    for (const double noise : {0.5, 1.0, 4.0}) {
      double last = 0;
      for (const double order : usual_orders()) {
        const double here = gaussian_divergence(rate, noise, order);
        EXPECT_GE(here, last * (1 - 1e-9)) << rate << " " << noise << " " << order;
        last = here;
      }
      // Whole orders lie on the curve of those beside them.
      for (const double order : {2.0, 5.0, 10.0})
        EXPECT_NEAR(gaussian_divergence(rate, noise, order),
                    (gaussian_divergence(rate, noise, order - 1e-4) +
                     gaussian_divergence(rate, noise, order + 1e-4)) /
                        2,
                    1e-5 * gaussian_divergence(rate, noise, order));
    }
}

TEST(Accountant, PicksTheLeastNoiseThatKeepsTheTarget) {
  for (const double target : {0.1, 1.0, 3.0, 20.0})
    for (const double rate : {0.01, 0.3, 1.0}) {
      const double noise = noise_for(target, 1e-5, rate, 400);
      const auto spent = [&](double sigma) {
        const GaussianSteps all{rate, sigma, 400};
        return epsilon_of(std::span(&all, 1), 1e-5);
      };
      EXPECT_LE(spent(noise), target);
      EXPECT_GT(spent(noise * 0.999), target);
    }
}

TEST(Accountant, SaysWhereNoNoiseIsEnough) {
  try {
    noise_for(1e-12, 1e-5, 1, 1e9);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_EQ(error.place(), "privacy.target_epsilon");
    EXPECT_FALSE(error.hint().empty());
  }
}

}  // namespace
}  // namespace dfrost
