// How often a piece of work gets done, for benchmarks.
#pragma once

#include <numeric>
#include <thread>
#include <vector>

#include "base/stopwatch.h"

namespace dfrost {

// Runs a second of all threads together. Each thread calls what `make_work(thread)` gave it: once to warm up
// (code generated, pages touched), then over and over for about `seconds` of the clock.
template <class Clock = Stopwatch, class MakeWork>
double runs_per_second(std::size_t threads, double seconds, const MakeWork& make_work) {
  std::vector<double> rates(threads);
  const auto repeat = [&](std::size_t thread) {
    auto work = make_work(thread);
    work();
    const Clock watch;
    double elapsed = 0, runs = 0;
    while (elapsed < seconds) {
      work();
      ++runs;
      elapsed = watch.seconds();
    }
    rates[thread] = runs / elapsed;
  };
  std::vector<std::thread> others;
  for (std::size_t t = 1; t < threads; ++t) others.emplace_back(repeat, t);
  repeat(0);
  for (auto& other : others) other.join();
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

}  // namespace dfrost
