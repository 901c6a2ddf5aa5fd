#include "network/edge_list.h"

#include <gtest/gtest.h>

#include "support/support.h"

namespace dfrost {
namespace {

TEST(EdgeList, ReadsSpacesTabsCommasCommentsAndBothDirections) {
  const auto edges =
      parse_edge_list("# a triangle and a tail\n0 1\r\n1,2 # here too\n\n 2\t0 \n3, 2\n2 3", 4, "x");
  EXPECT_EQ(Graph(4, edges).edges(), (std::vector<Edge>{{0, 1}, {0, 2}, {1, 2}, {2, 3}}));
  EXPECT_TRUE(parse_edge_list("", 4, "x").empty());
}

TEST(EdgeList, NamesTheLineThatIsWrong) {
  const auto expect = [](const std::string& text, const std::string& what) {
    test::expect_error(ErrorCode::data_loss, what, [&] { parse_edge_list(text, 4, "links.txt"); });
  };
  expect("0 1\n1\n", "two client numbers");
  expect("0 1\n1\n", "links.txt, line 2");
  expect("0 1 2", "two client numbers");
  expect("\n\n3 3", "client 3 is linked to itself");
  expect("0 4", "there is no client 4");
  expect("0 4", "numbered 0 to 3");
  expect("0 18446744073709551616", "there is no client 18446744073709551616");
  expect("0 -1", "'-1' is not a client number");
  expect("0 1.5", "'1.5' is not a client number");
  expect("0 one", "'one' is not a client number");
}

}  // namespace
}  // namespace dfrost
