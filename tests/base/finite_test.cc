#include "base/finite.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

namespace dfrost {
namespace {

using Limits = std::numeric_limits<float>;

TEST(AllFinite, HoldsForNoneAndForTheLargestAndSmallestNumbers) {
  EXPECT_TRUE(all_finite({}));
  const std::array numbers = {
      0.0f, -0.0f, Limits::max(), Limits::lowest(), Limits::min(), Limits::denorm_min()};
  EXPECT_TRUE(all_finite(numbers));
}

TEST(AllFinite, FindsTheOneThatIsNotWhereverItStands) {
  for (const float bad :
       {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), Limits::signaling_NaN()}) {
    std::vector<float> values(37, 1.0f);  // longer than a vector of the machine, and no multiple of one
    for (std::size_t place = 0; place < values.size(); ++place) {
      values[place] = bad;
      EXPECT_FALSE(all_finite(values)) << bad << " at " << place;
      values[place] = 1.0f;
    }
  }
}

}  // namespace
}  // namespace dfrost
