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

TEST(AmxDetection, GivesTheSameAnswerOnEveryThreadAndLeavesTheSignalAlone) {
  struct sigaction before {
  }, after{};
  ::sigaction(SIGILL, nullptr, &before);
  const bool here = amx_bf16_usable();
  ::sigaction(SIGILL, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([=] { EXPECT_EQ(amx_bf16_usable(), here); });
  for (auto& thread : threads) thread.join();
}

TEST(AmxDetection, AgreesWithWhatTheKernelSaysOfTheProcessor) {
  const auto flags = test::run_command("grep -c -w amx_bf16 /proc/cpuinfo");
  // A hypervisor may advertise what it does not grant: the flag is needed, but not enough.
  const bool advertised = flags.exit_code == 0;
  EXPECT_TRUE(advertised || !amx_bf16_usable());
}

TEST(AmxDetection, CanBeToldWhatToSayForAWhile) {
  const bool here = amx_bf16_usable();
  {
    const ScopedAmxForTesting without(false);
    EXPECT_FALSE(amx_bf16_usable());
    EXPECT_NE(cpu_summary().find("no AMX"), std::string::npos);
    const ScopedAmxForTesting with(true);
    EXPECT_TRUE(amx_bf16_usable());
  }
  EXPECT_EQ(amx_bf16_usable(), here);
}

TEST(AmxDetection, BelievesTheTilesWhenTheTrialProductIsRight) {
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
