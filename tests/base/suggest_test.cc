#include "base/suggest.h"

#include <gtest/gtest.h>

#include <vector>

namespace dfrost {
namespace {

TEST(EditDistance, CountsSlipsOfTheFinger) {
  EXPECT_EQ(edit_distance("merge", "merge"), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("mrege", "merge"), 1u);  // two neighbours swapped
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(Nearest, FindsTheWordThatWasMeant) {
  const std::vector<std::string> words = {"merge", "distance", "barycenter"};
  EXPECT_EQ(nearest("barycentre", words), "barycenter");
  EXPECT_EQ(nearest("merg", words), "merge");
}

TEST(Nearest, SaysNothingWhenNothingIsNear) {
  const std::vector<std::string> words = {"merge", "distance"};
  EXPECT_FALSE(nearest("xyzzy", words));
  EXPECT_FALSE(nearest("word", std::vector<std::string>{}));
}

}  // namespace
}  // namespace dfrost
