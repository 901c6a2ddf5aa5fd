// A metric for the transport: costs are distances of M z, merged prompts are means of z.
#include <gtest/gtest.h>

#include <cmath>

#include "merge/neighbours.h"
#include "support/support.h"

namespace dfrost {
namespace {

using test::Points;

// Few bits each, so that the images are floats without rounding and oracles can be held to the last digits.
Points coarse_points(std::size_t rows, std::size_t cols, RandomStream& random) {
  Points points(rows, cols);
  for (float& value : points.values) value = static_cast<float>(random.below(65)) / 32 - 1;
  return points;
}

// M z of every row.
Points images_of(const Points& points, const Points& metric) {
  Points images(points.rows, metric.rows);
  for (std::size_t r = 0; r < points.rows; ++r) {
    for (std::size_t m = 0; m < metric.rows; ++m) {
      for (std::size_t c = 0; c < points.cols; ++c)
        images.values[r * metric.rows + m] +=
            metric.values[m * metric.cols + c] * points.values[r * points.cols + c];
    }
  }
  return images;
}

test::Neighbours coarse_neighbours(std::size_t senders, std::size_t prompts, std::size_t width,
                                   RandomStream& random) {
  test::Neighbours result;
  for (std::size_t s = 0; s < senders; ++s) result.sets.push_back(coarse_points(prompts, width, random));
  return result;
}

test::Neighbours images_of(const test::Neighbours& neighbours, const Points& metric) {
  test::Neighbours images;
  for (const auto& set : neighbours.sets) images.sets.push_back(images_of(set, metric));
  return images;
}

TEST(MergeMetric, OtEqualsTheTenLineNumPyReferenceWithTheMetricInItsCosts) {
  RandomStream random(1, "metric");
  test::NumberWriter problems;
  std::vector<double> ours;
  for (std::size_t problem = 0; problem < 24; ++problem) {
    const std::size_t senders = 1 + random.below(4), prompts = 2 + random.below(5),
                      width = 2 + random.below(8), rows = 1 + random.below(12);
    const auto neighbours = coarse_neighbours(senders, prompts, width, random);
    const auto metric = coarse_points(rows, width, random);
    const MergeOptions options{.epsilon = random.uniform(0.05, 1),
                               .lambda = problem % 3 == 0 ? 0 : 0.01,
                               .sigma2 = random.uniform(0.5, 2),
                               .steps = 1 + random.below(12),
                               .form = problem % 2 == 0 ? MergeForm::gram : MergeForm::direct};
    problems.add(senders * prompts).add(prompts).add(width).add(rows).add(options.steps);
    problems.add(options.epsilon).add(options.lambda).add(options.sigma2).add_all(metric.values);
    for (const auto& set : neighbours.sets) problems.add_all(set.values);
    Points merged(prompts, width);
    const auto views = neighbours.views();
    const auto summary = merge({.senders = views, .metric = metric.view()}, options, merged.view());
    ours.insert(ours.end(), merged.values.begin(), merged.values.end());
    ours.insert(ours.end(), summary.objective.begin(), summary.objective.end());
    ours.insert(ours.end(), summary.plan.begin(), summary.plan.end());
  }
  const test::TemporaryFolder folder;
  problems.save(folder / "problems");
  test::run_python("merge/oracle.py",
                   "metric " + (folder / "problems").string() + " " + (folder / "answers").string());
  const auto answers = test::read_numbers(folder / "answers");
  ASSERT_EQ(answers.size(), ours.size());
  for (std::size_t i = 0; i < ours.size(); ++i)
    EXPECT_NEAR(ours[i], answers[i], 2e-6 * (1 + std::abs(answers[i]))) << i;
}

// Word for word the merge of the images, of which the merged prompts are the same combinations.
TEST(MergeMetric, IsTheMergeOfTheImagesForEveryKindThatTransports) {
  RandomStream random(2, "metric");
  for (const MergeKind kind : {MergeKind::ot, MergeKind::barycenter}) {
    for (const MergeInit init : {MergeInit::own, MergeInit::previous, MergeInit::kmeans_plus_plus}) {
      const auto neighbours = coarse_neighbours(4, 6, 8, random);
      const auto metric = coarse_points(11, 8, random), previous = coarse_points(6, 8, random),
                 previous_image = images_of(previous, metric);
      const auto images = images_of(neighbours, metric);
      const MergeOptions options{.kind = kind, .epsilon = 0.2, .init = init, .seed = 5};
      Points merged(6, 8), merged_image(6, 11);
      const auto views = neighbours.views(), image_views = images.views();
      const auto with_metric = merge({.senders = views, .previous = previous.view(), .metric = metric.view()},
                                     options, merged.view());
      const auto of_images =
          merge({.senders = image_views, .previous = previous_image.view()}, options, merged_image.view());
      EXPECT_EQ(with_metric.plan, of_images.plan);
      EXPECT_EQ(with_metric.objective, of_images.objective);
      EXPECT_EQ(with_metric.delta, of_images.delta);
      const auto image = images_of(merged, metric);
      for (std::size_t i = 0; i < image.values.size(); ++i)
        EXPECT_NEAR(image.values[i], merged_image.values[i], 2e-5) << static_cast<int>(kind);
    }
  }
}

TEST(MergeMetric, ThatTurnsSpaceAroundChangesNothing) {
  RandomStream random(3, "metric");
  const auto neighbours = coarse_neighbours(5, 4, 6, random);
  Points turn(6, 6);  // a permutation with signs
  for (std::size_t r = 0; r < 6; ++r) turn.values[r * 6 + (5 * r + 2) % 6] = r % 2 == 0 ? 1.0f : -1.0f;
  for (const MergeKind kind : {MergeKind::ot, MergeKind::barycenter}) {
    Points plain(4, 6), turned(4, 6);
    const auto views = neighbours.views();
    merge({.senders = views}, {.kind = kind}, plain.view());
    merge({.senders = views, .metric = turn.view()}, {.kind = kind}, turned.view());
    for (std::size_t i = 0; i < plain.values.size(); ++i)
      EXPECT_NEAR(plain.values[i], turned.values[i], 1e-6);
  }
}

TEST(MergeMetric, NeverRaisesTheObjectiveAndTheoremOneHoldsInItsCoordinates) {
  RandomStream random(4, "metric");
  for (std::size_t trial = 0; trial < 10; ++trial) {
    const auto neighbours = test::random_neighbours(5, 6, 12, 0.3, random);
    const auto metric = test::random_points(24, 12, random, 0.2);
    Points merged(6, 12);
    const auto views = neighbours.views();
    const auto summary =
        merge({.senders = views, .metric = metric.view()}, {.epsilon = 0.05, .steps = 30}, merged.view());
    double before = summary.initial_objective;
    for (const double now : summary.objective) {
      EXPECT_LE(now, before + 1e-9 * (1 + std::abs(before)));
      before = now;
    }
    EXPECT_TRUE(summary.theorem.held);
  }
}

TEST(MergeMetric, IsRefusedWhereNothingIsTransportedOrItDoesNotFit) {
  const Points set(2, 3), square(3, 3), narrow(3, 2);
  Points merged(2, 3);
  const std::vector<MatrixView<const float>> senders = {set.view(), set.view()};
  test::expect_error(ErrorCode::invalid_argument, "no distances for a metric", [&] {
    merge({.senders = senders, .metric = square.view()}, {.kind = MergeKind::average}, merged.view());
  });
  test::expect_error(ErrorCode::invalid_argument, "metric",
                     [&] { merge({.senders = senders, .metric = narrow.view()}, {}, merged.view()); });
}

}  // namespace
}  // namespace dfrost
