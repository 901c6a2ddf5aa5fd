#include "measure/merge_view.h"

#include <gtest/gtest.h>

#include <cmath>

#include "records/record_json.h"
#include "run/small_simulation.h"
#include "support/numbers.h"
#include "support/support.h"

namespace dfrost {
namespace {

using test::Points;

TEST(PrincipalPlane, AgreesWithTheSvdOfNumpyWhicheverSideIsShorter) {
  RandomStream random(1, "plane");
  // Few are solved directly, many by iteration.
  for (const auto& [rows, cols] : {std::pair{12, 40}, std::pair{40, 12}, std::pair{3, 5}, std::pair{150, 60},
                                   std::pair{120, 300}, std::pair{50, 1'000}}) {
    const Points points = test::random_points(rows, cols, random);
    const test::TemporaryFolder folder;
    test::NumberWriter().add(points.rows).add(points.cols).add_all(points.values).save(folder / "in");
    test::run_python("run/plane_oracle.py", (folder / "in").string() + " " + (folder / "out").string());
    const auto expected = test::read_numbers(folder / "out");

    const std::vector<MatrixView<const float>> sets = {points.view()};
    const auto plane = principal_plane(sets);
    const auto coordinates = plane.project_all(points.view());
    const double precision = std::min(rows, cols) > 40 ? 1e-4 : 1e-9;
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_NEAR(plane.variance[k], expected[k], 1e-10);
      const double sign = coordinates[0][k] * expected[2 + k] > 0 ? 1 : -1;
      for (std::size_t r = 0; r < points.rows; ++r) {
        EXPECT_NEAR(coordinates[r][k], sign * expected[2 + 2 * r + k], precision);
      }
    }
  }
}

TEST(PrincipalPlane, OfRowsThatAreAllTheSameHasNoAxes) {
  const Points points(3, 4, std::vector<float>(12, 2.5f));
  const std::vector<MatrixView<const float>> sets = {points.view()};
  const auto plane = principal_plane(sets);
  EXPECT_EQ(plane.variance, (std::array<double, 2>{0, 0}));
  EXPECT_EQ(plane.project(std::vector<float>{9, 9, 9, 9}), (PlanePoint{0, 0}));
  EXPECT_EQ(principal_plane({}).variance, (std::array<double, 2>{0, 0}));
}

TEST(PrincipalPlane, OfManyRowsFindsEqualVariancesAndRowsOnALine) {
  // A square around the origin, all its corners many times: both axes carry half.
  constexpr std::size_t kRows = 200, kCols = 100;
  Points square(kRows, kCols, std::vector<float>(kRows * kCols, 0)), line = square;
  for (std::size_t r = 0; r < kRows; ++r) {
    square.values[r * kCols + (r % 4 < 2 ? 5 : 9)] = r % 2 == 0 ? 1 : -1;
    line.values[r * kCols + 7] = static_cast<float>(r);
  }
  const auto plane_of = [](const Points& points) {
    return principal_plane(std::vector<MatrixView<const float>>{points.view()});
  };
  const auto even = plane_of(square);
  for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(even.variance[k], 0.5, 1e-12);
  for (const auto& [x, y] : even.project_all(square.view())) EXPECT_NEAR(x * x + y * y, 1, 1e-9);
  const auto straight = plane_of(line);
  EXPECT_NEAR(straight.variance[0], 1, 1e-12);
  EXPECT_EQ(straight.variance[1], 0);
  EXPECT_EQ(straight.axes[1], std::vector<double>(kCols, 0));
}

TEST(PrincipalPlane, OfRowsThatAreNotFiniteHasNoAxes) {
  const Points points(2, 2, {1, 2, std::nanf(""), 4});
  EXPECT_EQ(principal_plane(std::vector<MatrixView<const float>>{points.view()}).variance,
            (std::array<double, 2>{0, 0}));
}

TEST(MergeView, HoldsTheMergesOwnPlanAsSharesOfEachPrompt) {
  RandomStream random(2, "view");
  const Points own = test::random_points(3, 6, random), other = test::random_points(4, 6, random);
  const std::vector<MatrixView<const float>> senders = {own.view(), other.view()};
  for (const auto kind : {MergeKind::ot, MergeKind::barycenter}) {
    Points merged(3, 6);
    const auto summary = merge({senders}, {.kind = kind, .epsilon = 1}, merged.view());
    const auto view = view_merge(std::vector<ClientId>{7, 2}, senders, merged.view(), summary);
    EXPECT_EQ(view.client(), 7u);
    EXPECT_EQ(view.senders[1].client, 2u);
    EXPECT_EQ(view.senders[1].points.size(), 4u);
    EXPECT_EQ(view.merged.size(), 3u);
    std::vector<double> shares(7 * 3, 0);
    for (const auto& flow : view.plan) {
      EXPECT_GE(flow.share, kLeastFlow);
      shares[(3 * flow.sender + flow.prompt) * 3 + flow.merged_prompt] = flow.share;
    }
    for (std::size_t a = 0; a < 7; ++a) {
      const double mass = summary.plan[3 * a] + summary.plan[3 * a + 1] + summary.plan[3 * a + 2];
      for (std::size_t i = 0; i < 3; ++i) {
        const double share = summary.plan[3 * a + i] / mass;
        EXPECT_DOUBLE_EQ(shares[3 * a + i], share >= kLeastFlow ? share : 0) << a << " to " << i;
      }
    }
  }
}

TEST(MergeView, OfAnAverageLinksEachPromptToItsOwnIndexAlone) {
  RandomStream random(3, "view");
  const Points own = test::random_points(2, 5, random), other = test::random_points(2, 5, random);
  const std::vector<MatrixView<const float>> senders = {own.view(), other.view()};
  Points merged(2, 5);
  const std::vector<double> weights = {0.25, 0.75};
  const auto summary = merge({senders, weights}, {.kind = MergeKind::average}, merged.view());
  const auto view = view_merge(std::vector<ClientId>{0, 1}, senders, merged.view(), summary);
  ASSERT_EQ(view.plan.size(), 4u);
  for (const auto& flow : view.plan) {
    EXPECT_EQ(flow.prompt, flow.merged_prompt);
    EXPECT_DOUBLE_EQ(flow.share, 1);
  }
}

TEST(MergeView, AsJsonHasFourDigits) {
  MergeView view{.round = 3,
                 .kind = MergeKind::ot,
                 .variance = {0.612345678, 0.2},
                 .senders = {{4, {{-1.23456e-5, 123.456}}}},
                 .merged = {{0, std::nan("")}},
                 .dead = {0},
                 .plan = {{0, 0, 0, 0.99996}}};
  EXPECT_EQ(to_json(view).dump(),
            R"({"schema":1,"round":3,"client":4,"kind":"ot","variance":[0.6123,0.2],)"
            R"("senders":[{"client":4,"points":[[-1.235e-05,123.5]]}],"merged":[[0.0,null]],"dead":[0],)"
            R"("plan":[[0,0,0,1.0]]})");
}

TEST(Simulation, KeepsTheMergesOfTheFirstClientsOfEachDomainInRoundsThatEvaluate) {
  auto config = test::small_config();
  config.evaluate.every = 2;
  config.diagnostics.merge_views = 2;
  auto federation = test::make_simulation(config);
  EXPECT_TRUE(federation.run_round().merge_views.empty());
  const auto record = federation.run_round();
  ASSERT_EQ(record.merge_views.size(), 4u);  // six clients, three of each of two domains
  const std::vector<ClientId> seen = {0, 1, 3, 4};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& view = record.merge_views[i];
    EXPECT_EQ(view.client(), seen[i]);
    EXPECT_EQ(view.round, 2u);
    EXPECT_EQ(view.senders.size(), 3u);  // a ring
    EXPECT_EQ(view.merged.size(), 4u);
  }
}

TEST(Simulation, IsTheSameWhoeverLooks) {
  auto config = test::small_config();
  const auto values = [&](std::size_t views) {
    config.diagnostics.merge_views = views;
    auto federation = test::make_simulation(config);
    EXPECT_EQ(federation.run_round().merge_views.size(), std::min<std::size_t>(6, 2 * views));
    return federation.state().values;
  };
  EXPECT_EQ(values(0), values(9));
}

TEST(Simulation, RecordsTheGraphOfTheRound) {
  auto config = test::small_config();
  config.network.faults.active_clients = 5;
  config.network.topology.kind = TopologyKind::full;
  config.network.faults.link_failure = 0.3;
  auto federation = test::make_simulation(config);
  const auto record = federation.run_round();
  ASSERT_TRUE(record.graph);
  EXPECT_EQ(record.graph->links.size(), record.edges);
  EXPECT_EQ(record.graph->failed.size(), record.failed_edges);
  ASSERT_EQ(record.graph->absent.size(), 1u);
  EXPECT_EQ(record.edges + record.failed_edges, 10u);
  const auto json = to_json(record)["graph"];
  EXPECT_EQ(json["absent"], nlohmann::ordered_json(record.graph->absent));
  EXPECT_EQ(json["links"][0][0], record.graph->links[0].first);
  EXPECT_EQ(json["links"][0][1], record.graph->links[0].second);
}

}  // namespace
}  // namespace dfrost
