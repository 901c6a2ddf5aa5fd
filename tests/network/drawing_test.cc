#include "network/drawing.h"

#include <gtest/gtest.h>

#include <regex>

#include "support/support.h"

namespace dfrost {
namespace {

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t times = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++times;
  return times;
}

std::string draw(const TopologyOptions& options, std::size_t clients, const FaultOptions& faults = {}) {
  const Topology topology(options, clients, 1);
  return draw_svg(draw_round(topology, faults, 2), topology.placement(2), {"a < b & c", "below"});
}

TEST(Drawing, ShowsEveryClientAndEveryLinkOnce) {
  const auto svg = draw({.degree = 4}, 30, {.link_failure = 0.2, .active_clients = 25});
  const auto network =
      draw_round(Topology({.degree = 4}, 30, 1), {.link_failure = 0.2, .active_clients = 25}, 2);
  EXPECT_EQ(count(svg, "<g class=\"client\">"), 25u);
  EXPECT_EQ(count(svg, "<g class=\"absent\"><title>"), 5u);
  EXPECT_EQ(count(svg, "Q"), network.planned_links());
  EXPECT_EQ(count(svg, ">failed link<"), 1u);
  EXPECT_EQ(count(svg, ">absent client<"), 1u);
}

TEST(Drawing, LeavesOutOfTheLegendWhatDidNotHappen) {
  const auto svg = draw({.degree = 4}, 30);
  EXPECT_EQ(count(svg, ">failed link<"), 0u);
  EXPECT_EQ(count(svg, ">absent client<"), 0u);
}

TEST(Drawing, PutsEverythingInsideThePicture) {
  for (const auto kind : {TopologyKind::ring, TopologyKind::grid, TopologyKind::torus}) {
    for (const std::size_t clients : {1u, 2u, 12u, 40u, 500u}) {
      const auto svg = draw({.kind = kind}, clients);
      std::smatch size;
      ASSERT_TRUE(std::regex_search(svg, size, std::regex("viewBox=\"0 0 (\\d+) (\\d+)\"")));
      const std::regex dot("cx=\"([-\\d.]+)\" cy=\"([-\\d.]+)\" r=\"([\\d.]+)\"");
      std::size_t dots = 0;
      for (std::sregex_iterator it(svg.begin(), svg.end(), dot), end; it != end; ++it, ++dots) {
        for (const int axis : {1, 2}) {
          EXPECT_GE(std::stod((*it)[axis]) - std::stod((*it)[3]), 0);
          EXPECT_LE(std::stod((*it)[axis]) + std::stod((*it)[3]), std::stod(size[axis]));
        }
      }
      EXPECT_EQ(dots, clients);
    }
  }
}

TEST(Drawing, EscapesItsText) { EXPECT_EQ(count(draw({.degree = 4}, 6), "a &lt; b &amp; c"), 2u); }

TEST(Drawing, RefusesWhatWouldShowNothing) {
  test::expect_error(ErrorCode::invalid_argument, "would show nothing",
                     [] { draw({.kind = TopologyKind::full}, 500); });
}

}  // namespace
}  // namespace dfrost
