#include "partition/partition.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/file.h"
#include "base/thread_pool.h"
#include "support/support.h"

namespace dfrost {
namespace {

// A corpus of labels without pixels: `classes[d]` classes in domain d, `per_class` pictures each.
Corpus pool_of(const std::vector<std::size_t>& classes, std::size_t per_class) {
  Corpus corpus;
  for (const std::size_t count : classes) {
    Domain domain;
    domain.name = fmt::format("domain{}", corpus.domains.size());
    domain.first_class = static_cast<int>(corpus.classes());
    domain.class_names.resize(count);
    domain.first_train = corpus.train.labels.size();
    domain.train_count = count * per_class;
    for (std::size_t i = 0; i < domain.train_count; ++i) {
      corpus.train.labels.push_back(domain.first_class + static_cast<int>(i % count));
    }
    corpus.train.records.resize(corpus.train.labels.size());
    corpus.domains.push_back(domain);
  }
  return corpus;
}

std::vector<PartitionOptions> all_kinds() {
  std::vector<PartitionOptions> kinds;
  for (const double alpha : {0.5, 0.1}) {
    for (const auto form : {DirichletForm::per_class, DirichletForm::per_client}) {
      PartitionOptions options;
      options.alpha = alpha;
      options.per = form;
      kinds.push_back(options);
    }
  }
  kinds.push_back({.kind = PartitionKind::extreme});
  kinds.push_back({.kind = PartitionKind::iid});
  return kinds;
}

TEST(MakePartition, GivesEveryPictureToExactlyOneClientOfItsDomain) {
  const Corpus corpus = pool_of({10, 7}, 300);
  for (const auto& options : all_kinds()) {
    for (Seed seed = 0; seed < 40; ++seed) {
      const Partition partition = make_partition(corpus, options, seed);
      ASSERT_EQ(partition.clients.size(), 20u);
      std::vector<int> holders(corpus.train.size());
      for (std::size_t u = 0; u < 20; ++u) {
        ASSERT_GE(partition.clients[u].size(), options.min_per_client);
        ASSERT_TRUE(std::is_sorted(partition.clients[u].begin(), partition.clients[u].end()));
        for (const std::size_t index : partition.clients[u]) {
          ++holders[index];
          ASSERT_EQ(index < 3000, u < 10);  // the first domain's pictures stay with its clients
        }
      }
      ASSERT_TRUE(std::all_of(holders.begin(), holders.end(), [](int count) { return count == 1; }))
          << to_string(options.kind) << " seed " << seed;
    }
  }
}

TEST(MakePartition, IsFixedByTheSeedWhereverItRuns) {
  const Corpus corpus = pool_of({10, 7}, 300);
  for (const auto& options : all_kinds()) {
    constexpr std::size_t kSeeds = 8;
    std::vector<Partition> alone;
    for (Seed seed = 0; seed < kSeeds; ++seed) alone.push_back(make_partition(corpus, options, seed));
    EXPECT_NE(alone[0].clients, alone[1].clients);
    for (const std::size_t threads : {1, 2, 5}) {
      ThreadPool workers(threads);
      std::vector<Partition> together(kSeeds);
      workers.parallel_for(kSeeds, [&](std::size_t seed, std::size_t) {
        together[seed] = make_partition(corpus, options, seed);
      });
      for (std::size_t seed = 0; seed < kSeeds; ++seed)
        EXPECT_EQ(together[seed].clients, alone[seed].clients);
    }
  }
}

TEST(MakePartition, IsTheSameOnEveryMachine) {
  // Recorded once: a change here changes everybody's experiments.
  const Partition partition = make_partition(pool_of({10}, 100), {}, 1);
  std::vector<std::size_t> sizes;
  for (const auto& client : partition.clients) sizes.push_back(client.size());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{149, 135, 42, 33, 146, 150, 78, 64, 83, 120}));
}

TEST(SplitDirichlet, HasTheMarginalsOfADirichletDistribution) {
  const test::TemporaryFolder folder;
  constexpr std::size_t kPerClass = 1000;
  constexpr std::size_t kClasses = 4;
  constexpr std::size_t kClients = 5;
  const Corpus corpus = pool_of({kClasses}, kPerClass);
  std::string arguments = fmt::format("{} {} {}", kClients, kClasses, kPerClass);
  for (const auto form : {DirichletForm::per_class, DirichletForm::per_client}) {
    for (const double alpha : {0.1, 0.5, 5.0}) {
      PartitionOptions options;
      options.alpha = alpha;
      options.per = form;
      options.clients_per_domain = kClients;
      std::string counts;
      for (std::uint64_t i = 0; i < 1500; ++i) {
        RandomStream stream(17, "marginals", i);
        const Partition partition = split_dirichlet(corpus.train.labels, kClasses, options, stream);
        counts += fmt::format("{}\n", count_table(partition, corpus.train.labels, kClasses)[0][0]);
      }
      const auto file = folder / fmt::format("{}-{}", to_string(form), alpha);
      write_file_atomically(file, counts);
      arguments += fmt::format(" {}", file.string());
    }
  }
  test::run_python("partition/dirichlet_oracle.py", arguments);
}

TEST(SplitExtreme, LeavesNinetyNinePercentOfEachClassAtItsDesignatedClients) {
  for (const std::size_t classes : {10, 7, 3, 20}) {
    const Corpus corpus = pool_of({classes}, 1000);
    const auto designated = designated_clients(classes, 10);
    for (Seed seed = 0; seed < 20; ++seed) {
      RandomStream stream(seed, "extreme");
      const Partition partition =
          split_extreme(corpus.train.labels, classes, {.kind = PartitionKind::extreme}, stream);
      const auto table = count_table(partition, corpus.train.labels, classes);
      for (std::size_t c = 0; c < classes; ++c) {
        std::size_t held = 0;
        for (const std::size_t u : designated[c]) {
          held += table[u][c];
          EXPECT_NEAR(static_cast<double>(table[u][c]), 990.0 / static_cast<double>(designated[c].size()), 1);
        }
        EXPECT_EQ(held, 990u);
      }
    }
  }
}

TEST(SplitExtreme, SpreadsTheRestOverAllOthers) {
  const Corpus corpus = pool_of({10}, 1000);
  std::vector<std::size_t> received(10);
  for (Seed seed = 0; seed < 200; ++seed) {
    RandomStream stream(seed, "extreme");
    const Partition partition =
        split_extreme(corpus.train.labels, 10, {.kind = PartitionKind::extreme}, stream);
    const auto table = count_table(partition, corpus.train.labels, 10);
    for (std::size_t u = 0; u < 10; ++u) received[u] += table[u][0];
  }
  EXPECT_EQ(received[0], 200u * 990u);
  EXPECT_EQ(std::accumulate(received.begin() + 1, received.end(), std::size_t{0}), 200u * 10u);
  for (std::size_t u = 1; u < 10; ++u) EXPECT_NEAR(static_cast<double>(received[u]), 2000.0 / 9, 70);
}

TEST(DesignatedClients, AreOneAndTwoInTurnForSevenClassesAndTenClients) {
  std::vector<std::size_t> sizes;
  for (const auto& clients : designated_clients(7, 10)) sizes.push_back(clients.size());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{1, 2, 1, 2, 1, 2, 1}));
}

TEST(DesignatedClients, LeaveNoClientAndNoClassOut) {
  for (std::size_t classes = 1; classes <= 12; ++classes) {
    for (std::size_t clients = 1; clients <= 30; ++clients) {
      std::vector<int> served(clients);
      for (const auto& owners : designated_clients(classes, clients)) {
        EXPECT_FALSE(owners.empty());
        for (const std::size_t u : owners) ++served.at(u);
      }
      EXPECT_TRUE(std::all_of(served.begin(), served.end(), [](int count) { return count > 0; }));
    }
  }
}

TEST(SplitIid, GivesEqualPartsWithTheMixOfTheWhole) {
  const Corpus corpus = pool_of({10}, 1000);
  RandomStream stream(5, "iid");
  const Partition partition = split_iid(corpus.train.size(), {.kind = PartitionKind::iid}, stream);
  double chi_square = 0;
  for (const auto& row : count_table(partition, corpus.train.labels, 10)) {
    EXPECT_EQ(std::accumulate(row.begin(), row.end(), std::size_t{0}), 1000u);
    for (const std::size_t count : row) chi_square += std::pow(static_cast<double>(count) - 100, 2) / 100;
  }
  EXPECT_LT(chi_square, 126.1);  // 99.9 % of chi-square with 81 degrees of freedom
}

TEST(MakePartition, RefusesAMinimumThatCannotBeMetAndSaysWhy) {
  const Corpus corpus = pool_of({10}, 30);
  test::expect_error(ErrorCode::failed_precondition,
                     "domain0 has 300 training pictures; 10 clients with at least 33",
                     [&] { make_partition(corpus, {}, 1); });
  PartitionOptions uneven;
  uneven.alpha = 0.01;
  uneven.min_per_client = 29;
  uneven.max_draws = 20;
  test::expect_error(ErrorCode::failed_precondition, "in 20 draws",
                     [&] { make_partition(corpus, uneven, 1); });
}

TEST(MakePartition, DrawsAgainUntilTheMinimumIsMet) {
  const Corpus corpus = pool_of({10}, 100);
  PartitionOptions options;
  options.alpha = 0.1;
  options.min_per_client = 0;
  std::size_t short_ones = 0;
  for (Seed seed = 0; seed < 30; ++seed) {
    options.min_per_client = 0;
    const Partition first = make_partition(corpus, options, seed);
    const bool enough =
        std::all_of(first.clients.begin(), first.clients.end(), [](const auto& c) { return c.size() >= 33; });
    options.min_per_client = 33;
    const Partition drawn = make_partition(corpus, options, seed);
    for (const auto& client : drawn.clients) EXPECT_GE(client.size(), 33u);
    EXPECT_EQ(first.clients == drawn.clients, enough);  // a first draw that is good enough is kept
    short_ones += enough ? 0 : 1;
  }
  EXPECT_GT(short_ones, 0u);
}

TEST(PartitionOptions, AreCheckedByName) {
  const Corpus corpus = pool_of({10}, 100);
  const auto refused = [&](const PartitionOptions& options, const std::string& key) {
    test::expect_error(ErrorCode::invalid_argument, key, [&] { make_partition(corpus, options, 1); });
  };
  refused({.alpha = 0}, "partition.alpha");
  refused({.alpha = -1}, "partition.alpha");
  refused({.clients_per_domain = 0}, "partition.clients_per_domain");
  refused({.designated_share = 1.5}, "partition.designated_share");
  refused({.kind = PartitionKind::file}, "partition.file");
}

}  // namespace
}  // namespace dfrost
