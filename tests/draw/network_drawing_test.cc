#include "draw/network_drawing.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

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

// Every number that stands right after `name`, in order.
std::vector<double> values_of(const std::string& svg, const std::string& name) {
  std::vector<double> values;
  for (auto at = svg.find(name); at != std::string::npos; at = svg.find(name, at + 1)) {
    values.push_back(std::stod(svg.substr(at + name.size(), 20)));
  }
  return values;
}

TEST(Drawing, PutsEverythingInsideThePicture) {
  for (const auto kind : {TopologyKind::ring, TopologyKind::grid, TopologyKind::torus}) {
    for (const std::size_t clients : {1u, 2u, 12u, 40u, 500u}) {
      const auto svg = draw({.kind = kind}, clients);
      const double radius = values_of(svg, " r=\"").at(0);
      for (const auto& [centre, size] :
           {std::pair(" cx=\"", " width=\""), std::pair(" cy=\"", " height=\"")}) {
        const auto centres = values_of(svg, centre);
        EXPECT_EQ(centres.size(), clients);
        for (const double at : centres) {
          EXPECT_GE(at - radius, 0);
          EXPECT_LE(at + radius, values_of(svg, size).at(0));
        }
      }
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
