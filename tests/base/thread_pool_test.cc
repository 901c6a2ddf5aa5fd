#include "base/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "dfrost/error.h"

namespace dfrost {
namespace {

TEST(ThreadPool, RunsEveryIndexOnceAtAnySize) {
  for (const std::size_t threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (int repeat = 0; repeat < 20; ++repeat) {
      std::vector<std::atomic<int>> runs(97);
      pool.parallel_for(97, [&](std::size_t i, std::size_t worker) {
        EXPECT_LT(worker, threads);
        ++runs[i];
      });
      for (const auto& count : runs) EXPECT_EQ(count, 1);
    }
  }
}

TEST(ThreadPool, DoesNothingForNothing) {
  ThreadPool pool(3);
  pool.parallel_for(0, [](std::size_t, std::size_t) { FAIL(); });
}

TEST(ThreadPool, ThrowsWhatABodyThrewAndWorksOn) {
  ThreadPool pool(4);
  EXPECT_THROW(pool.parallel_for(50,
                                 [](std::size_t i, std::size_t) {
                                   if (i == 13) throw std::runtime_error("thirteen");
                                 }),
               std::runtime_error);
  std::atomic<int> done = 0;
  pool.parallel_for(10, [&](std::size_t, std::size_t) { ++done; });
  EXPECT_EQ(done, 10);
}

TEST(ThreadPool, SaysSoWhenTheSystemGivesNoMoreThreads) {
#ifdef DFROST_SANITIZED
  GTEST_SKIP() << "SKIPPED: a sanitizer needs the address space that this test takes away";
#endif
  const auto start_too_many = [] {
    const rlimit little{.rlim_cur = 256u << 20, .rlim_max = 256u << 20};  // each thread wants 8 MB of stack
    setrlimit(RLIMIT_AS, &little);
    try {
      const ThreadPool pool(4096);
    } catch (const Error& error) {
      std::exit(error.code() == ErrorCode::resource_exhausted ? 7 : 1);
    }
    std::exit(0);
  };
  EXPECT_EXIT(start_too_many(), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace dfrost
