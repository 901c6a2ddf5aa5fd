#include "data/corpus.h"

#include <gtest/gtest.h>

#include <set>

#include "base/file.h"
#include "data/embedding_cache.h"
#include "data/image_file.h"
#include "support/support.h"

namespace dfrost {
namespace {

DomainSpec spec(const std::string& name) { return {.name = name}; }

// Records with `per_class[c]` pictures of class c, each filled with bytes that name domain, class and number.
void write_domain(const std::filesystem::path& folder, const std::vector<std::size_t>& per_class,
                  char domain) {
  std::filesystem::create_directories(folder);
  std::string text;
  for (std::size_t c = 0; c < per_class.size(); ++c) {
    for (std::size_t i = 0; i < per_class[c]; ++i) {
      text += static_cast<char>(c);
      text += std::string(1024, domain) + std::string(1024, static_cast<char>(c)) +
              std::string(1024, static_cast<char>(i));
    }
  }
  write_file_atomically(folder / "train.bin", text);
  write_file_atomically(folder / "test.bin", text);
}

class Pool : public testing::Test {
 protected:
  Pool() {
    write_domain(folder_ / "first", {30, 30, 30}, 'a');
    write_domain(folder_ / "second", {50, 10, 50, 50}, 'b');
    options_.root = folder_.path();
    options_.domains = {spec("first"), spec("second")};
    options_.train_per_domain = 60;
    options_.test_per_domain = 12;
    options_.seed = 3;
  }
  test::TemporaryFolder folder_;
  CorpusOptions options_;
};

TEST_F(Pool, ShiftsTheLabelsOfEachDomainPastThoseBefore) {
  const Corpus corpus = open_corpus(options_);
  EXPECT_EQ(corpus.classes(), 7u);
  EXPECT_EQ(corpus.domains[1].first_class, 3);
  EXPECT_EQ(corpus.domains[1].first_train, 60u);
  Image scratch;
  for (std::size_t i = 0; i < corpus.train.size(); ++i) {
    const ImageView view = view_picture(corpus.train, i, scratch);
    const int domain = i < 60 ? 0 : 1;
    ASSERT_EQ(view.rgb[0], 'a' + domain);
    ASSERT_EQ(corpus.train.labels[i], view.rgb[1] + 3 * domain);
  }
}

TEST_F(Pool, TakesEquallyManyOfEveryClassAsFarAsTheyReach) {
  const Corpus corpus = open_corpus(options_);
  const auto train = count_classes(corpus.train.labels, 7);
  EXPECT_EQ(train[0], 20u);
  EXPECT_EQ(train[1], 20u);
  EXPECT_EQ(train[2], 20u);
  EXPECT_EQ(train[4], 10u);  // all there are
  EXPECT_EQ(train[3] + train[5] + train[6], 50u);
  EXPECT_GE(std::min({train[3], train[5], train[6]}), 16u);
  EXPECT_LE(std::max({train[3], train[5], train[6]}), 17u);
  EXPECT_FALSE(corpus.domains[1].notes.empty());
  const auto test = count_classes(corpus.test.labels, 7);
  EXPECT_EQ(test, (std::vector<std::size_t>{4, 4, 4, 3, 3, 3, 3}));
}

TEST_F(Pool, NeverTakesAPictureTwice) {
  const Corpus corpus = open_corpus(options_);
  std::set<std::string> seen;
  Image scratch;
  for (std::size_t i = 0; i < corpus.train.size(); ++i) {
    const auto* rgb = reinterpret_cast<const char*>(view_picture(corpus.train, i, scratch).rgb);
    EXPECT_TRUE(seen.insert(std::string(rgb, 3)).second);
  }
}

TEST_F(Pool, IsFixedByTheSeedAndTheDomainsNameAlone) {
  const Corpus corpus = open_corpus(options_);
  ThreadPool threads(4);
  EXPECT_EQ(open_corpus(options_, {.pool = &threads}).train.bytes, corpus.train.bytes);
  // Another order of domains takes the same pictures of each.
  std::swap(options_.domains[0], options_.domains[1]);
  const Corpus swapped = open_corpus(options_);
  const auto half = corpus.train.bytes.begin() + 60 * 3072;
  EXPECT_TRUE(std::equal(corpus.train.bytes.begin(), half, swapped.train.bytes.begin() + 60 * 3072));
  options_.seed = 4;
  EXPECT_NE(open_corpus(options_).train.bytes, swapped.train.bytes);
}

TEST_F(Pool, LetsOneDomainHaveItsOwnSizes) {
  options_.domains[0].train = 9;
  options_.domains[0].test = 6;
  const Corpus corpus = open_corpus(options_);
  EXPECT_EQ(corpus.domains[0].train_count, 9u);
  EXPECT_EQ(corpus.domains[0].test_count, 6u);
  EXPECT_EQ(corpus.domains[1].train_count, 60u);
}

TEST_F(Pool, RefusesMoreThanThereAreAndSaysWhere) {
  options_.train_per_domain = 91;
  test::expect_error(ErrorCode::failed_precondition, "first, train pictures", [&] { open_corpus(options_); });
  options_.domains = {spec("first"), spec("first")};
  test::expect_error(ErrorCode::invalid_argument, "named twice", [&] { open_corpus(options_); });
  options_.domains = {};
  test::expect_error(ErrorCode::invalid_argument, "no domains", [&] { open_corpus(options_); });
}

TEST_F(Pool, HoldsOutAFifthWhereASetHasNoTestPictures) {
  std::filesystem::remove(folder_ / "first" / "test.bin");
  const Dataset dataset = open_dataset(spec("first"), folder_.path());
  EXPECT_EQ(dataset[Split::train].size(), 72u);
  EXPECT_EQ(count_classes(dataset[Split::test].labels, 3), (std::vector<std::size_t>{6, 6, 6}));
  EXPECT_EQ(dataset.notes.size(), 1u);
  // Always the same ones, and none of them in both.
  EXPECT_EQ(open_dataset(spec("first"), folder_.path())[Split::test].bytes, dataset[Split::test].bytes);
}

TEST(PoolPreset, IsThePapers) {
  const auto five = corpus_preset("five");
  ASSERT_TRUE(five.has_value());
  EXPECT_EQ(five->domains.size(), 5u);
  EXPECT_EQ(five->train_per_domain, 20'000u);
  EXPECT_EQ(five->test_per_domain, 2'000u);
  const auto four = corpus_preset("four");
  ASSERT_TRUE(four.has_value());
  std::size_t classes = 0;
  for (const auto& domain : four->domains) classes += find_dataset_info(domain.name)->class_names.size();
  EXPECT_EQ(classes, 37u);
  EXPECT_EQ(four->train_per_domain, 30'000u);
  EXPECT_FALSE(corpus_preset("six").has_value());
}

TEST(EmbeddingCache, GivesBackWhatWasPutInAndNothingElse) {
  EmbeddingCache cache(3, 1 << 20);
  EXPECT_TRUE(cache.find(5).empty());
  const std::vector<float> rows = {1, 2, 3};
  EXPECT_TRUE(cache.insert(5, rows));
  const auto found = cache.find(5);
  EXPECT_EQ(std::vector<float>(found.begin(), found.end()), rows);
  EXPECT_TRUE(cache.find(6).empty());
}

TEST(EmbeddingCache, NeverGrowsBeyondItsLimit) {
  const std::vector<float> rows(100, 1.0f);
  EmbeddingCache cache(rows.size(), 10'000);
  for (std::size_t i = 0; i < 1000; ++i) cache.insert(i, rows);
  EXPECT_EQ(cache.size(), cache.capacity());
  EXPECT_GT(cache.size(), 10u);
  EXPECT_LE(cache.used_bytes(), 10'000u);
  EXPECT_FALSE(cache.find(0).empty());  // what is in stays in
  EmbeddingCache none(rows.size(), 0);
  EXPECT_FALSE(none.insert(0, rows));
}

TEST(EmbeddingCache, CanBeFilledAndReadByManyThreads) {
  EmbeddingCache cache(64, 1 << 20);
  ThreadPool pool(4);
  pool.parallel_for(4000, [&](std::size_t i, std::size_t) {
    const std::size_t picture = i % 100;
    if (const auto found = cache.find(picture); !found.empty()) {
      EXPECT_EQ(found[63], static_cast<float>(picture));
    } else {
      cache.insert(picture, std::vector<float>(64, static_cast<float>(picture)));
    }
  });
  EXPECT_EQ(cache.size(), 100u);
}

}  // namespace
}  // namespace dfrost
