#include "kernels/cpu.h"

#include <gtest/gtest.h>

#include <signal.h>

#include <thread>
#include <vector>

#include "kernels/tile.h"
#include "support/amx_emulator.h"
#include "support/support.h"

namespace dfrost {
namespace {

TEST(UnitDetection, GivesTheSameAnswerOnEveryThreadAndLeavesTheSignalAlone) {
  struct sigaction before {
  }, after{};
  ::sigaction(SIGILL, nullptr, &before);
  const Bf16Unit here = bf16_unit();
  ::sigaction(SIGILL, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([=] { EXPECT_EQ(bf16_unit(), here); });
  for (auto& thread : threads) thread.join();
}

TEST(UnitDetection, AgreesWithWhatTheKernelSaysOfTheProcessor) {
  const auto advertised = [](const std::string& flag) {
    return test::run_command("grep -c -w " + flag + " /proc/cpuinfo").exit_code == 0;
  };
  // A hypervisor may advertise tiles that it does not grant: the flag is needed, but not enough.
  EXPECT_TRUE(advertised("amx_bf16") || bf16_unit() != Bf16Unit::tiles);
  if (bf16_unit() != Bf16Unit::tiles) {
    EXPECT_EQ(advertised("avx512_bf16"), bf16_usable());
  }
}

TEST(UnitDetection, CanBeToldWhatToSayForAWhile) {
  const Bf16Unit here = bf16_unit();
  {
    const ScopedBf16UnitForTesting without(Bf16Unit::none);
    EXPECT_FALSE(bf16_usable());
    EXPECT_FALSE(bf16_is_faster());
    EXPECT_NE(cpu_summary().find("no bf16"), std::string::npos);
    const ScopedBf16UnitForTesting with(Bf16Unit::tiles);
    EXPECT_TRUE(bf16_usable());
    EXPECT_TRUE(bf16_is_faster());
  }
  EXPECT_EQ(bf16_unit(), here);
}

TEST(UnitDetection, BelievesTheTilesWhenTheTrialProductIsRight) {
  const test::AmxForTest amx;
  EXPECT_TRUE(tile_trial_product_is_right());
}

TEST(CpuSummary, NamesTheProcessorAndItsVectors) {
  const std::string summary = cpu_summary();
  EXPECT_GT(summary.find(','), 3u) << summary;
  EXPECT_TRUE(summary.find("AVX") != std::string::npos || summary.find("SSE") != std::string::npos)
      << summary;
}

}  // namespace
}  // namespace dfrost
