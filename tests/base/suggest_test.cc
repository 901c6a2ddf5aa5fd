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

TEST(DidYouMean, AsksForTheNearestWordOrSaysWhatItWasGivenInstead) {
  const std::vector<std::string> words = {"merge", "distance"};
  EXPECT_EQ(did_you_mean("merg", words, "one of two"), "did you mean 'merge'?");
  EXPECT_EQ(did_you_mean("xyzzy", words, "one of two"), "one of two");
  EXPECT_EQ(did_you_mean("xyzzy", words), "");
  EXPECT_EQ(did_you_mean("'a' or 'b'"), "did you mean 'a' or 'b'?");
}

}  // namespace
}  // namespace dfrost
