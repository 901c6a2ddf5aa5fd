#include "study/paired.h"

#include <gtest/gtest.h>

#include <array>

namespace dfrost {
namespace {

// scipy.stats.t.ppf(0.975, df) and ppf(0.995, df), SciPy 1.10, whose last is off by 1e-8 with three degrees
// of freedom.
TEST(StudentT, HasTheQuantilesOfSciPy) {
  struct Known {
    std::size_t freedom;
    double inside95, inside99;
  };
  constexpr std::array kKnown = {
      Known{1, 12.706204736432095, 63.65674116287399},  Known{2, 4.302652729911275, 9.92484320091807},
      Known{3, 3.182446305284263, 5.84090929975643},    Known{4, 2.7764451051977987, 4.604094871415897},
      Known{9, 2.2621571627409915, 3.2498355440153697}, Known{10, 2.2281388519649385, 3.169272667175838},
      Known{29, 2.045229642132703, 2.756385903670335}};
  for (const auto& known : kKnown) {
    EXPECT_NEAR(student_t_quantile(0.95, known.freedom), known.inside95, 1e-8 * known.inside95);
    EXPECT_NEAR(student_t_quantile(0.99, known.freedom), known.inside99, 1e-8 * known.inside99);
  }
}

// numpy and scipy.stats.t.interval(0.95, 3, loc, scale=sem) of [41.8, 36.1, 39.7, 44.0] -
// [39.1, 36.9, 33.5, 40.2].
TEST(PairedDifference, HasTheIntervalOfSciPy) {
  const std::array differences = {41.8 - 39.1, 36.1 - 36.9, 39.7 - 33.5, 44.0 - 40.2};
  const auto difference = paired_difference(differences);
  ASSERT_TRUE(difference && difference->low);
  EXPECT_EQ(difference->seeds, 4u);
  EXPECT_NEAR(difference->mean, 2.975, 1e-12);
  EXPECT_NEAR(*difference->standard_error, 1.4550916351442154, 1e-12);
  EXPECT_NEAR(*difference->low, -1.655750998114745, 1e-10);
  EXPECT_NEAR(*difference->high, 7.605750998114744, 1e-10);
}

TEST(PairedDifference, OfOneSeedHasNoIntervalAndOfNoneIsNothing) {
  const auto one = paired_difference(std::array{1.5});
  ASSERT_TRUE(one);
  EXPECT_EQ(one->mean, 1.5);
  EXPECT_FALSE(one->low);
  EXPECT_FALSE(paired_difference({}));
}

}  // namespace
}  // namespace dfrost
