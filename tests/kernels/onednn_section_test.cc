#include "kernels/onednn_section.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

#include "kernels/fp32_ops.h"
#include "support/support.h"

namespace dfrost {
namespace {

std::atomic<std::size_t> handled = 0;

void count_signal(int) { ++handled; }

bool is_blocked(int signal) {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return sigismember(&mask, signal) == 1;
}

TEST(OneDnnSection, HoldsSignalsBackUntilTheOutermostEnds) {
  ASSERT_FALSE(is_blocked(SIGINT));
  {
    const OneDnnSection outer;
    {
      const OneDnnSection inner;
      EXPECT_TRUE(is_blocked(SIGINT));
    }
    EXPECT_TRUE(is_blocked(SIGINT));
    EXPECT_FALSE(is_blocked(SIGSEGV)) << "a crash must stay one";
    EXPECT_FALSE(is_blocked(SIGILL)) << "the emulator of AMX instructions lives on it";
  }
  EXPECT_FALSE(is_blocked(SIGINT));
}

// Without the section this ends in a broken heap within a second or two, on any machine where oneDNN 2.6
// takes its AVX2 or AVX-512 product.
TEST(OneDnnSection, LetsNoSignalHandlerDisturbAProduct) {
  struct sigaction counting = {}, before = {};
  counting.sa_handler = count_signal;
  counting.sa_flags = SA_RESTART;
  ASSERT_EQ(sigaction(SIGUSR1, &counting, &before), 0);

  // The four products of a block, for eight images of DeiT-Tiny, with what is added to them.
  constexpr std::size_t kRows = 8 * 207, kWidth = 192, kRepeats = 15;
  struct Layer {
    std::size_t inputs, outputs;
    bool accumulate;
  };
  std::vector<Fp32Ops::Weights> weights;
  const auto layers = {Layer{kWidth, 3 * kWidth, false}, Layer{kWidth, kWidth, true},
                       Layer{kWidth, 4 * kWidth, false}, Layer{4 * kWidth, kWidth, true}};
  for (const auto& layer : layers) {
    Matrix<float> weight(layer.outputs, layer.inputs);
    for (std::size_t i = 0; i < layer.outputs * layer.inputs; ++i)
      weight.data()[i] = static_cast<float>(i % 13) - 6.0f;
    weights.emplace_back(weight.view());
  }
  const std::vector<float> bias(4 * kWidth, 0.5f);
  const auto product = [&] {
    std::vector<float> all;
    const auto* w = weights.data();
    for (const auto& layer : layers) {
      Matrix<float> a(kRows, layer.inputs), out(kRows, layer.outputs);
      for (std::size_t i = 0; i < kRows * layer.inputs; ++i) a.data()[i] = static_cast<float>(i % 17) - 8.0f;
      std::fill_n(out.data(), kRows * layer.outputs, 1.0f);
      (w++)->multiply(a.view(), std::span(bias).first(layer.outputs), layer.accumulate, out.view());
      all.insert(all.end(), out.data(), out.data() + kRows * layer.outputs);
    }
    return all;
  };
  const auto expected = product();

  std::atomic<bool> done = false;
  std::size_t wrong = 0;
  std::thread worker([&] {
    for (std::size_t i = 0; i < kRepeats; ++i) wrong += product() == expected ? 0 : 1;
    done = true;
  });
  const auto thread = worker.native_handle();
  while (!done) {
    pthread_kill(thread, SIGUSR1);
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  worker.join();
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_EQ(wrong, 0U);
  EXPECT_GT(handled, 0U) << "signals are late, not lost";
}

}  // namespace
}  // namespace dfrost
