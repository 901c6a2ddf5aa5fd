#include "base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace dfrost {
namespace {

TEST(RandomStream, IsFixedByItsName) {
  RandomStream a(7, "init", 3, 4);
  RandomStream b(7, "init", 3, 4);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.next(), b.next());
}

TEST(RandomStream, GivesTheSameNumbersOnEveryMachine) {
  // Recorded once: a change here breaks everybody's seeds.
  RandomStream stream(1, "golden");
  EXPECT_EQ(stream.next(), 13519637967133850467u);
}

TEST(RandomStream, DiffersWhenAnyPartOfItsNameDiffers) {
  std::set<std::uint64_t> firsts;
  for (Seed seed : {1, 2}) {
    for (const char* purpose : {"a", "b"}) {
      for (std::uint64_t client : {1, 2}) {
        for (std::uint64_t round : {1, 2}) firsts.insert(RandomStream(seed, purpose, client, round).next());
      }
    }
  }
  EXPECT_EQ(firsts.size(), 16u);
}

TEST(RandomStream, BelowIsUniform) {
  RandomStream stream(5, "below");
  std::array<int, 7> counts{};
  for (int i = 0; i < 70'000; ++i) ++counts[stream.below(7)];
  double chi_square = 0;
  for (const int count : counts) chi_square += std::pow(count - 10'000.0, 2) / 10'000.0;
  EXPECT_LT(chi_square, 22.5);  // 99.9 % of chi-square with 6 degrees of freedom
}

TEST(RandomStream, NormalAndGammaHaveTheirMoments) {
  RandomStream stream(5, "moments");
  constexpr int kDraws = 200'000;
  double sum = 0, squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = stream.normal();
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.01);
  EXPECT_NEAR(squares / kDraws, 1, 0.02);
  for (const double shape : {0.1, 0.5, 1.0, 4.0}) {
    double mean = 0;
    for (int i = 0; i < kDraws; ++i) mean += stream.gamma(shape) / kDraws;
    EXPECT_NEAR(mean, shape, 5 * std::sqrt(shape / kDraws));
  }
}

TEST(RandomStream, DirichletSharesSumToOneEvenWhenAlphaIsTinyOrHuge) {
  RandomStream stream(5, "dirichlet");
  for (const double alpha : {1e-6, 0.1, 0.5, 100.0, 1e308}) {
    for (int i = 0; i < 50; ++i) {
      double sum = 0;
      for (const double share : stream.dirichlet(10, alpha)) {
        EXPECT_TRUE(share >= 0 && share <= 1);
        sum += share;
      }
      EXPECT_NEAR(sum, 1, 1e-12);
    }
  }
}

TEST(RandomStream, PermutationHoldsEveryIndexOnce) {
  RandomStream stream(5, "permutation");
  const auto order = stream.permutation(100);
  EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), 100u);
}

}  // namespace
}  // namespace dfrost
