#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dfrost/wasserstein.h"
#include "support/numbers.h"
#include "support/support.h"

namespace dfrost {
namespace {

using test::Points;

struct Network {
  std::vector<Points> sets;
  std::vector<std::vector<double>> masses;
  std::vector<double> weights;

  std::vector<Measure> measures() const {
    std::vector<Measure> result;
    for (std::size_t m = 0; m < sets.size(); ++m) result.push_back({sets[m].view(), masses[m]});
    return result;
  }
};

Network random_network(std::size_t kind, RandomStream& random) {
  Network network;
  const std::size_t count = 2 + random.below(7), width = 1 + random.below(5), size = 2 + random.below(8);
  network.weights = random.dirichlet(count, 2.0);
  for (std::size_t m = 0; m < count; ++m) {
    const std::size_t rows = kind % 2 == 0 ? size : 1 + random.below(12);
    network.sets.push_back(test::random_points(rows, width, random));
    network.masses.push_back(kind % 3 == 0 ? std::vector<double>() : random.dirichlet(rows, 1.0));
  }
  return network;
}

double objective(const Network& network, const Points& points) {
  double sum = 0;
  const auto measures = network.measures();
  for (std::size_t m = 0; m < measures.size(); ++m) {
    sum += network.weights[m] * wasserstein2_squared(measures[m], {points.view()}).w2_squared;
  }
  return sum;
}

TEST(Barycenter, IsNeverWorseThanPotsFromTheSameStart) {
  const test::TemporaryFolder folder;
  RandomStream random(1, "barycenter");
  test::NumberWriter file;
  std::vector<double> ours;
  for (std::size_t kind = 0; kind < 60; ++kind) {
    const Network network = random_network(kind, random);
    const std::size_t width = network.sets[0].cols, n = 1 + random.below(8);
    const auto start = test::random_points(n, width, random);
    file.add(network.sets.size()).add(n).add(width).add_all(start.values).add_all(network.weights);
    for (std::size_t m = 0; m < network.sets.size(); ++m) {
      const std::size_t rows = network.sets[m].rows;
      file.add(rows).add_all(network.sets[m].values);
      file.add_all(network.masses[m].empty() ? std::vector<double>(rows, 1.0 / static_cast<double>(rows))
                                             : network.masses[m]);
    }
    Points found(n, width);
    const auto summary = barycenter(network.measures(), network.weights,
                                    {.max_passes = 1000, .start = start.view()}, found.view());
    EXPECT_TRUE(summary.converged);
    ours.push_back(summary.objective);
  }
  file.save(folder / "problems");
  test::run_python("ot/oracle.py",
                   "barycenter " + (folder / "problems").string() + " " + (folder / "answers").string());
  const auto answers = test::read_numbers(folder / "answers");
  ASSERT_EQ(answers.size(), ours.size());
  for (std::size_t i = 0; i < ours.size(); ++i)
    EXPECT_LE(ours[i], answers[i] * (1 + 1e-9) + 1e-12) << "problem " << i;
}

TEST(Barycenter, SaysTheObjectiveThatItsPointsHave) {
  RandomStream random(2, "objective");
  for (std::size_t kind = 0; kind < 30; ++kind) {
    const Network network = random_network(kind, random);
    Points found(4, network.sets[0].cols);
    const auto summary = barycenter(network.measures(), network.weights, {}, found.view());
    EXPECT_NEAR(summary.objective, objective(network, found), 1e-5);
    double sum = 0;
    for (std::size_t m = 0; m < network.weights.size(); ++m)
      sum += network.weights[m] * summary.squared_distances[m];
    EXPECT_NEAR(sum, summary.objective, 1e-12);
  }
}

TEST(Barycenter, KeepsTheBestOfSeveralStarts) {
  RandomStream random(3, "starts");
  for (std::size_t kind = 0; kind < 30; ++kind) {
    const Network network = random_network(kind, random);
    Points found(3, network.sets[0].cols);
    const auto summary = barycenter(network.measures(), network.weights, {.starts = 5}, found.view());
    EXPECT_GE(summary.start_objectives.size(), std::min<std::size_t>(5, network.sets.size()));
    EXPECT_EQ(summary.objective, *std::ranges::min_element(summary.start_objectives));
    EXPECT_EQ(summary.objective, summary.start_objectives[summary.best_start]);
  }
}

TEST(Barycenter, OfReorderedCopiesIsTheSetItself) {
  RandomStream random(4, "copies");
  const auto set = test::random_points(10, 16, random);
  Network network;
  for (std::size_t m = 0; m < 5; ++m) {
    Points copy(10, 16);
    const auto order = random.permutation(10);
    for (std::size_t r = 0; r < 10; ++r) std::ranges::copy(set.view().row(order[r]), copy.row(r).begin());
    network.sets.push_back(copy);
    network.masses.emplace_back();
  }
  Points found(10, 16);
  EXPECT_NEAR(barycenter(network.measures(), {}, {}, found.view()).objective, 0, 1e-25);
  EXPECT_NEAR(wasserstein2_squared({found.view()}, {set.view()}).w2_squared, 0, 1e-12);
}

TEST(Barycenter, OfReorderedCopiesIsTheSetItselfEvenFarFromTheOrigin) {
  // Neighbouring floats at 1e15 lie 2²⁶ apart.
  const Points points(3, 1, {1e15f, 1e15f + 0x1.0p27f, 1e15f + 0x1.0p28f});
  const Points reordered(3, 1, {points.values[1], points.values[2], points.values[0]});
  Points found(3, 1);
  const std::vector<Measure> measures = {{points.view()}, {reordered.view()}, {points.view()}};
  EXPECT_EQ(barycenter(measures, {}, {}, found.view()).objective, 0);
  std::ranges::sort(found.values);
  EXPECT_EQ(found.values, points.values);
}

TEST(Barycenter, StartsComparedOnAFewMeasuresEndAsFarDownOnAllOfThem) {
  for (Seed seed = 0; seed < 5; ++seed) {
    RandomStream random(seed, "sample");
    std::vector<Points> sets;
    std::vector<Measure> measures;
    const auto shared = test::random_points(6, 20, random);
    for (std::size_t m = 0; m < 60; ++m) {
      sets.push_back(shared);
      for (float& value : sets.back().values) value += static_cast<float>(0.4 * random.normal());
      std::rotate(sets.back().values.begin(),
                  sets.back().values.begin() + static_cast<std::ptrdiff_t>(20 * random.below(6)),
                  sets.back().values.end());
    }
    for (const auto& set : sets) measures.push_back({set.view()});
    Points with_all(6, 20), with_few(6, 20);
    BarycenterOptions options{.screening_passes = 2};
    const auto all = barycenter(measures, {}, options, with_all.view());
    options.screening_measures = 12;
    const auto few = barycenter(measures, {}, options, with_few.view());
    EXPECT_NEAR(few.objective, all.objective, 1e-9);
    EXPECT_EQ(few.start_objectives.size(), all.start_objectives.size());
    EXPECT_EQ(few.start_objectives[few.best_start], few.objective);
    double sum = 0;
    for (const auto& measure : measures)
      sum += wasserstein2_squared(measure, {with_few.view()}).w2_squared / 60;
    EXPECT_NEAR(few.objective, sum, 1e-6);
  }
}

TEST(Barycenter, OfOnePointIsTheWeightedMean) {
  RandomStream random(5, "mean");
  const Network network = random_network(0, random);
  Points found(1, network.sets[0].cols);
  barycenter(network.measures(), network.weights, {}, found.view());
  for (std::size_t k = 0; k < found.cols; ++k) {
    double mean = 0;
    for (std::size_t m = 0; m < network.sets.size(); ++m) {
      const auto& set = network.sets[m];
      for (std::size_t r = 0; r < set.rows; ++r) {
        mean += network.weights[m] * static_cast<double>(set.view()(r, k)) / static_cast<double>(set.rows);
      }
    }
    EXPECT_NEAR(found.values[k], mean, 1e-6);
  }
}

TEST(Barycenter, AMeasureOfWeightZeroDoesNotMatter) {
  RandomStream random(6, "zero");
  Network network = random_network(0, random);
  network.weights.assign(network.sets.size(), 0.0);
  network.weights[1] = 1;
  Points found(network.sets[1].rows, network.sets[1].cols);
  barycenter(network.measures(), network.weights, {.start = network.sets[0].view()}, found.view());
  EXPECT_NEAR(wasserstein2_squared({found.view()}, {network.sets[1].view()}).w2_squared, 0, 1e-12);
}

TEST(Barycenter, IsTheSameAtEveryNumberOfThreads) {
  RandomStream random(7, "threads");
  Network network;
  for (std::size_t m = 0; m < 150; ++m) {
    network.sets.push_back(test::random_points(4, 9, random));
    network.masses.emplace_back();
  }
  Points one(4, 9), many(4, 9);
  const auto a = barycenter(network.measures(), {}, {.threads = 1}, one.view());
  const auto b = barycenter(network.measures(), {}, {.threads = 5}, many.view());
  EXPECT_EQ(one.values, many.values);
  EXPECT_EQ(a.objective, b.objective);
  EXPECT_EQ(a.start_objectives, b.start_objectives);
}

TEST(Barycenter, RefusesWhatItCannotAverage) {
  const Points a(2, 3), b(2, 4);
  Points found(2, 3);
  const std::vector<Measure> good = {{a.view()}, {a.view()}}, mixed = {{a.view()}, {b.view()}};
  const auto refuses = [&](const std::string& text, std::span<const Measure> measures,
                           const BarycenterOptions& options, std::span<const double> weights,
                           MatrixView<float> out) {
    test::expect_error(ErrorCode::invalid_argument, text,
                       [&] { barycenter(measures, weights, options, out); });
  };
  const std::vector<double> bad_weights = {0.5, 0.6};
  refuses("no measures", {}, {}, {}, found.view());
  refuses("measure 1", mixed, {}, {}, found.view());
  refuses("sum to 1.1", good, {}, bad_weights, found.view());
  refuses("n = 0", good, {}, {}, MatrixView<float>());
  refuses("start", good, {.start = found.view().rows_from(0, 1)}, {}, found.view());
  refuses("one start", good, {.starts = 0}, {}, found.view());
  refuses("one pass", good, {.max_passes = 0}, {}, found.view());
  refuses("tolerance", good, {.tolerance = -1}, {}, found.view());
}

}  // namespace
}  // namespace dfrost
