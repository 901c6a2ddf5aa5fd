#include "merge/ot_merge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "dfrost/wasserstein.h"
#include "merge/neighbours.h"

namespace dfrost {
namespace {

using test::merge_points;
using test::random_neighbours;

// J never increases, J ≥ J*, Theorem 1's bound holds, every row keeps its mass. Said of every merge in this
// file.
void expect_sound(const MergeSummary& summary, const MergeOptions& options, std::size_t rows,
                  std::size_t prompts) {
  ASSERT_EQ(summary.objective.size(), summary.steps);
  const double lowest = -options.epsilon * (std::log(static_cast<double>(rows * prompts)) + 1);
  double before = summary.initial_objective;
  for (const double objective : summary.objective) {
    if (options.epsilon_init == 0) {
      EXPECT_GE(objective, lowest - 1e-12 * std::abs(lowest));
      if (summary.reseeds == 0) {
        EXPECT_LE(objective, before + 1e-12 * (std::abs(before) + std::abs(lowest)));
      }
    }
    before = objective;
  }
  EXPECT_TRUE(summary.theorem.held) << summary.theorem.smallest_delta << " > " << summary.theorem.bound;
  double mass = 0;
  for (const double cell : summary.plan) mass += cell;
  EXPECT_NEAR(mass, 1, 1e-12);
}

TEST(OtMerge, NeverIncreasesTheObjectiveAndKeepsTheoremOneUnderEveryOption) {
  std::size_t dead = 0, reseeds = 0;
  for (Seed seed = 0; seed < 150; ++seed) {
    RandomStream random(seed, "theorem");
    const std::size_t prompts = 1 + random.below(10), width = 1 + random.below(20);
    const auto neighbours =
        random_neighbours(1 + random.below(6), prompts, width, random.uniform(0, 1), random);
    MergeOptions options;
    options.epsilon = std::pow(10.0, random.uniform(-5, 2));
    options.lambda = random.below(5) == 0 ? 0.0 : std::pow(10.0, random.uniform(-4, 1));
    options.sigma2 = std::pow(10.0, random.uniform(-1, 1));
    options.steps = 1 + random.below(60);
    options.epsilon_init = random.below(3) == 0 ? options.epsilon * random.uniform(0.1, 50) : 0;
    options.init = random.below(2) == 0 ? MergeInit::own : MergeInit::kmeans_plus_plus;
    options.dead = static_cast<DeadPrompts>(random.below(3));
    options.shrink = static_cast<Shrink>(random.below(4) == 0);
    options.form = static_cast<MergeForm>(random.below(3));
    options.seed = seed;
    const std::size_t wanted = 1 + random.below(14);
    const auto merged = merge_points(neighbours, options, wanted);
    SCOPED_TRACE(seed);
    expect_sound(merged.summary, options, neighbours.rows(), wanted);
    dead += merged.summary.dead.size();
    reseeds += merged.summary.reseeds;
  }
  EXPECT_GT(dead, 0u);  // the cases above do reach these paths
  EXPECT_GT(reseeds, 0u);
}

TEST(OtMerge, TheGramFormAndTheDirectFormAgree) {
  for (Seed seed = 0; seed < 20; ++seed) {
    RandomStream random(seed, "forms");
    const auto neighbours = random_neighbours(6, 10, 96, random.uniform(0, 0.5), random);
    MergeOptions options{.epsilon = std::pow(10.0, random.uniform(-3, 1))};
    const auto previous = test::random_points(10, 96, random, 0.5);
    if (seed % 2 == 0) options.init = MergeInit::previous;
    const auto all = neighbours.gathered(seed % 2 == 0 ? previous.view() : MatrixView<const float>());
    options.form = MergeForm::gram;
    const auto gram = ot_merge(all, 10, options);
    options.form = MergeForm::direct;
    const auto direct = ot_merge(all, 10, options);
    for (std::size_t i = 0; i < 10; ++i) {
      for (std::size_t k = 0; k < 96; ++k) EXPECT_NEAR(gram.prompts(i, k), direct.prompts(i, k), 1e-10);
    }
    for (std::size_t s = 0; s < options.steps; ++s) {
      EXPECT_NEAR(gram.summary.objective[s], direct.summary.objective[s], 1e-11);
      EXPECT_NEAR(gram.summary.delta[s], direct.summary.delta[s], 1e-7);
    }
  }
}

// All three forms give one result, and prompts that began as one end as one.
void expect_one_result(const test::Neighbours& neighbours, MergeOptions options, std::size_t prompts) {
  options.form = MergeForm::direct;
  const auto direct = merge_points(neighbours, options, prompts);
  for (const auto form : {MergeForm::gram, MergeForm::automatic}) {
    options.form = form;
    const auto other = merge_points(neighbours, options, prompts);
    for (std::size_t i = 0; i < direct.prompts.values.size(); ++i)
      ASSERT_NEAR(direct.prompts.values[i], other.prompts.values[i], 1e-5) << i;
  }
  const auto own = neighbours.sets.front().view();
  for (std::size_t i = 0; i < std::min(prompts, own.rows()); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (options.dead == DeadPrompts::reseed || !std::ranges::equal(own.row(i), own.row(j))) continue;
      EXPECT_TRUE(std::ranges::equal(direct.prompts.view().row(i), direct.prompts.view().row(j)));
    }
  }
}

TEST(OtMerge, OwnPromptsThatCoincideStayTogetherInEveryForm) {
  std::vector<float> own;
  for (int i = 0; i < 4; ++i) own.insert(own.end(), {-.3f, -.2f, -1.2f});
  const std::vector<float> others = {1.8f, 1.1f, -.3f, .8f, .3f, -.6f, 1, -.3f, -.3f, -.8f, .5f, -.1f};
  test::Neighbours one{{test::Points(4, 3, own), test::Points(4, 3, others)}},
      each{{test::Points(4, 3, own)}};
  for (std::size_t r = 0; r < 4; ++r)
    each.sets.emplace_back(1, 3, std::vector<float>(others.begin() + 3 * r, others.begin() + 3 * (r + 1)));
  for (const auto* neighbours : {&one, &each}) {
    expect_one_result(*neighbours, {.epsilon = 0.1}, 4);
    // As one prompt with the mass of all: a column's share of the mass does not change where it goes.
    const auto four = merge_points(*neighbours, {.epsilon = 0.1, .lambda = 0}, 4);
    const auto single = merge_points(*neighbours, {.epsilon = 0.1, .lambda = 0}, 1);
    for (std::size_t i = 0; i < 12; ++i)
      EXPECT_NEAR(four.prompts.values[i], single.prompts.values[i % 3], 1e-6);
  }
}

TEST(OtMerge, IsTheSameInEveryFormWhereverPromptsCoincide) {
  std::size_t twins = 0;
  for (Seed seed = 0; seed < 150; ++seed) {
    RandomStream random(seed, "twins");
    const std::size_t prompts = 2 + random.below(7), width = 1 + random.below(6);
    auto neighbours = random_neighbours(2 + random.below(4), prompts, width, random.uniform(0, 1), random);
    for (auto& set : neighbours.sets) {
      for (std::size_t r = 0; r < prompts; ++r) {
        if (random.below(2) == 0) continue;
        std::ranges::copy(set.view().row(random.below(prompts)), set.row(r).begin());
        ++twins;
      }
    }
    MergeOptions options{.epsilon = std::pow(10.0, random.uniform(-2, 1))};
    options.dead = static_cast<DeadPrompts>(random.below(3));
    options.shrink = static_cast<Shrink>(random.below(2));
    options.seed = seed;
    SCOPED_TRACE(seed);
    expect_one_result(neighbours, options, 1 + random.below(2 * prompts));
  }
  EXPECT_GT(twins, 100u);
}

TEST(OtMerge, IsUnchangedWhenAPeerReordersItsPrompts) {
  for (Seed seed = 0; seed < 10; ++seed) {
    RandomStream random(seed, "reorder");
    auto neighbours = random_neighbours(5, 8, 12, 0.2, random);
    const auto before = merge_points(neighbours, {.epsilon = 0.05}, 8);
    const auto order = random.permutation(8);
    const auto original = neighbours.sets[3];
    for (std::size_t r = 0; r < 8; ++r) {
      std::ranges::copy(original.view().row(order[r]), neighbours.sets[3].row(r).begin());
    }
    const auto after = merge_points(neighbours, {.epsilon = 0.05}, 8);
    for (std::size_t i = 0; i < before.prompts.values.size(); ++i) {
      EXPECT_NEAR(before.prompts.values[i], after.prompts.values[i], 1e-6);
    }
  }
}

TEST(OtMerge, GivesTheSameSetInAnotherOrderWhenTheOwnPromptsAreReordered) {
  RandomStream random(1, "own order");
  auto neighbours = random_neighbours(4, 6, 10, 0.2, random);
  const auto before = merge_points(neighbours, {}, 6);
  auto reversed = neighbours;
  for (std::size_t r = 0; r < 6; ++r) {
    std::ranges::copy(neighbours.sets[0].row(5 - r), reversed.sets[0].row(r).begin());
  }
  const auto after = merge_points(reversed, {}, 6);
  EXPECT_LT(wasserstein2_squared({before.prompts.view()}, {after.prompts.view()}).w2_squared, 1e-12);
}

TEST(OtMerge, ASenderWithManyRowsWeighsNoMoreThanOneWithFew) {
  RandomStream random(2, "senders");
  test::Neighbours neighbours;
  neighbours.sets.push_back(test::random_points(1, 4, random));
  neighbours.sets.push_back(test::random_points(9, 4, random));
  const auto merged = merge_points(neighbours, {.lambda = 0, .steps = 3}, 1);
  for (std::size_t k = 0; k < 4; ++k) {
    double mean = 0;
    for (std::size_t r = 0; r < 9; ++r) mean += static_cast<double>(neighbours.sets[1].row(r)[k]) / 9;
    EXPECT_NEAR(merged.prompts.values[k], (static_cast<double>(neighbours.sets[0].values[k]) + mean) / 2,
                1e-6);
  }
}

// docs/explanation/agreement.md: why a network may not agree. A set as it counts alike: how many prompts are
// where.
test::Points placed(const test::Points& places, const std::vector<std::size_t>& numbers) {
  std::size_t rows = 0;
  for (const std::size_t number : numbers) rows += number;
  test::Points set(rows, places.cols);
  std::size_t next = 0;
  for (std::size_t place = 0; place < numbers.size(); ++place) {
    for (std::size_t i = 0; i < numbers[place]; ++i, ++next)
      std::ranges::copy(places.view().row(place), set.row(next).begin());
  }
  return set;
}

TEST(OtMerge, LeavesAsTheyAreSetsThatDifferOnlyInHowManyPromptsAreWhere) {
  for (Seed seed = 1; seed <= 30; ++seed) {
    RandomStream random(seed, "numbers");
    const std::size_t count = 2 + random.below(3);
    const auto places = test::random_points(count, 16, random, 10);  // far apart beside √ε
    std::vector<std::size_t> more(count, 1), less(count, 1);
    for (std::size_t i = 0; i < 6; ++i) ++more[0], ++less[1];
    const test::Neighbours both{{placed(places, more), placed(places, less)}};
    for (const std::size_t steps : {1, 50, 500}) {
      const auto merged = merge_points(both, {.steps = steps, .shrink = Shrink::off}, both.sets.front().rows);
      for (std::size_t i = 0; i < merged.prompts.values.size(); ++i)
        EXPECT_NEAR(merged.prompts.values[i], both.sets.front().values[i], 1e-4);
    }
  }
}

TEST(BarycenterMerge, MakesTheSameOfSetsThatDifferOnlyInHowManyPromptsAreWhere) {
  test::Points places(2, 1);
  places.values = {0, 10};
  const auto a = placed(places, {2, 1}), b = placed(places, {1, 2});
  for (const auto& both : {test::Neighbours{{a, b}}, test::Neighbours{{b, a}}}) {
    auto merged = merge_points(both, {.kind = MergeKind::barycenter}, 3).prompts.values;
    std::ranges::sort(merged);
    EXPECT_EQ(merged, (std::vector<float>{0, 5, 10}));
  }
}

TEST(OtMerge, SendersWeighWhatTheCallerSays) {
  RandomStream random(3, "weights");
  const auto neighbours = random_neighbours(3, 1, 4, 1, random);
  const auto views = neighbours.views();
  const std::vector<double> weights = {0.5, 0.5, 0.0};
  test::Points merged(1, 4);
  const auto summary = merge({.senders = views, .weights = weights}, {.lambda = 0}, merged.view());
  EXPECT_TRUE(std::isfinite(summary.objective.back()));
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_FLOAT_EQ(merged.values[k], (neighbours.sets[0].values[k] + neighbours.sets[1].values[k]) / 2);
  }
}

TEST(OtMerge, DeadPromptsBecomeZeroOrStayOrMoveOntoTheWorstServedRow) {
  // Two tight groups, and a third prompt that starts between others' rows but far from all.
  test::Neighbours neighbours;
  neighbours.sets.push_back(test::Points(3, 1, {0.0f, 10.0f, 4.0f}));
  neighbours.sets.push_back(test::Points(3, 1, {0.1f, 10.1f, 10.3f}));
  const test::Points start(3, 1, {0.0f, 10.0f, -50.0f});
  const auto run = [&](DeadPrompts dead) {
    test::Merged result{test::Points(3, 1), {}};
    const auto views = neighbours.views();
    result.summary = merge({.senders = views, .previous = start.view()},
                           {.epsilon = 0.1, .lambda = 1e-4, .init = MergeInit::previous, .dead = dead},
                           result.prompts.view());
    return result;
  };
  const auto paper = run(DeadPrompts::paper), keep = run(DeadPrompts::keep),
             reseed = run(DeadPrompts::reseed);
  EXPECT_EQ(keep.summary.dead, std::vector<std::size_t>{2});
  EXPECT_FLOAT_EQ(keep.prompts.values[2], -50);
  EXPECT_GT(reseed.summary.reseeds, 0u);
  EXPECT_TRUE(reseed.summary.dead.empty());
  EXPECT_NEAR(reseed.prompts.values[2], 4, 0.01);
  // At zero it is near a group of rows and comes to life again: the first step alone shows the rule.
  test::Points once(3, 1);
  const auto views = neighbours.views();
  const auto summary = merge({.senders = views, .previous = start.view()},
                             {.epsilon = 0.1, .steps = 1, .init = MergeInit::previous}, once.view());
  EXPECT_EQ(summary.dead, std::vector<std::size_t>{2});
  EXPECT_EQ(once.values[2], 0);
  EXPECT_TRUE(paper.summary.dead.empty());
  // Whatever became of it, it had died.
  for (const auto* merged : {&paper, &keep, &reseed})
    EXPECT_EQ(merged->summary.died, std::vector<std::size_t>{2});
}

TEST(OtMerge, SaysWhichPromptsDiedOnTheWayWhereverTheyEnd) {
  std::size_t revived = 0;
  for (Seed seed = 0; seed < 12; ++seed) {
    RandomStream random(seed, "died");
    const auto neighbours = random_neighbours(4, 6, 8, 0.1, random);
    const auto views = neighbours.views();
    const auto start = test::random_points(9, 8, random);
    MergeOptions options{.epsilon = 0.05, .init = MergeInit::previous, .form = MergeForm::direct};
    options.dead = static_cast<DeadPrompts>(seed % 3);
    // One step more at a time, so that every step once is the last.
    std::set<std::size_t> died;
    for (options.steps = 1; options.steps <= 8; ++options.steps) {
      test::Points merged(9, 8);
      const auto summary = merge({.senders = views, .previous = start.view()}, options, merged.view());
      died.insert(summary.dead.begin(), summary.dead.end());
      ASSERT_EQ(std::set(summary.died.begin(), summary.died.end()), died)
          << "seed " << seed << ", step " << options.steps;
      revived += summary.died.size() - summary.dead.size();
    }
  }
  EXPECT_GT(revived, 0u);  // the cases above do reach this path
}

TEST(OtMerge, ShrinkOffIsLambdaZero) {
  RandomStream random(4, "shrink");
  const auto neighbours = random_neighbours(3, 5, 6, 0.1, random);
  const auto off = merge_points(neighbours, {.lambda = 0.5, .shrink = Shrink::off}, 5);
  const auto zero = merge_points(neighbours, {.lambda = 0}, 5);
  EXPECT_EQ(off.prompts.values, zero.prompts.values);
  EXPECT_TRUE(std::isinf(off.summary.theorem.bound));
}

TEST(OtMerge, StopsEarlyOnlyWhenAsked) {
  RandomStream random(5, "stop");
  const auto neighbours = random_neighbours(3, 5, 6, 0.1, random);
  const auto all = merge_points(neighbours, {}, 5), early = merge_points(neighbours, {.early_stop = true}, 5);
  EXPECT_EQ(all.summary.steps, 50u);
  EXPECT_TRUE(all.summary.converged);
  EXPECT_LT(early.summary.steps, 50u);
  EXPECT_LT(early.summary.delta.back(), 1e-6);
  EXPECT_GE(*std::min_element(early.summary.delta.begin(), early.summary.delta.end() - 1), 1e-6);
  EXPECT_FALSE(merge_points(neighbours, {.steps = 1}, 5).summary.converged);
}

TEST(OtMerge, AnnealingEndsAtTheAskedEpsilonAndFindsNoWorseAnAnswerOnAverage) {
  double plain = 0, annealed = 0;
  for (Seed seed = 0; seed < 30; ++seed) {
    RandomStream random(seed, "anneal");
    const auto neighbours = random_neighbours(6, 5, 2, 0.3, random);
    const MergeOptions options{.epsilon = 0.01, .init = MergeInit::kmeans_plus_plus, .seed = seed};
    auto slowly = options;
    slowly.epsilon_init = 1;
    plain += merge_points(neighbours, options, 5).summary.objective.back();
    annealed += merge_points(neighbours, slowly, 5).summary.objective.back();
  }
  EXPECT_LT(annealed, plain);
  // One annealed step is a step at the target.
  RandomStream random(1, "one");
  const auto neighbours = random_neighbours(3, 4, 3, 0.3, random);
  EXPECT_EQ(merge_points(neighbours, {.steps = 1, .epsilon_init = 9}, 4).prompts.values,
            merge_points(neighbours, {.steps = 1}, 4).prompts.values);
}

TEST(OtMerge, StartsWhereItIsTold) {
  RandomStream random(6, "init");
  const auto neighbours = random_neighbours(3, 4, 3, 0.01, random);
  const auto views = neighbours.views();
  // With one step and a hard softmax, each start keeps the rows nearest to it.
  const auto previous = neighbours.sets[2];
  test::Points own(4, 3), from_previous(4, 3), drawn(4, 3), drawn_again(4, 3);
  merge({.senders = views}, {}, own.view());
  merge({.senders = views, .previous = previous.view()}, {.init = MergeInit::previous}, from_previous.view());
  EXPECT_LT(wasserstein2_squared({own.view()}, {from_previous.view()}).w2_squared, 1e-10);
  const MergeOptions draw{.init = MergeInit::kmeans_plus_plus, .seed = 5};
  merge({.senders = views}, draw, drawn.view());
  merge({.senders = views}, draw, drawn_again.view());
  EXPECT_EQ(drawn.values, drawn_again.values);
}

TEST(OtMerge, OffIndexMassIsZeroForAlignedSendersAndAllForRotatedOnes) {
  RandomStream random(7, "index");
  auto neighbours = random_neighbours(4, 6, 20, 0.01, random);
  EXPECT_LT(merge_points(neighbours, {}, 6).summary.off_index_mass, 1e-9);
  // Three of four senders move every prompt to the next index.
  for (std::size_t s = 1; s < 4; ++s) {
    std::rotate(neighbours.sets[s].values.begin(), neighbours.sets[s].values.begin() + 20,
                neighbours.sets[s].values.end());
  }
  EXPECT_NEAR(merge_points(neighbours, {}, 6).summary.off_index_mass, 0.75, 1e-9);
}

}  // namespace
}  // namespace dfrost
