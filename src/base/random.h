// Random numbers that are the same on every machine and at every thread count.
// A stream is named by what it is for (seed, purpose, client, round), never shared, and passed explicitly.
// The generator is xoshiro256++ (Blackman and Vigna, 2019) keyed through SplitMix64; the distributions are
// our own because the standard library's differ between implementations.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace dfrost {

using Seed = std::uint64_t;

class RandomStream {
 public:
  // Two streams that differ in any part of their name are independent.
  RandomStream(Seed seed, std::string_view purpose, std::uint64_t client = 0, std::uint64_t round = 0);

  std::uint64_t next();
  double uniform();  // [0, 1), 53 bits
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  std::uint64_t below(std::uint64_t bound);  // [0, bound), unbiased; bound > 0
  double normal();                           // mean 0, variance 1
  double gamma(double shape);                // scale 1; shape > 0
  std::vector<double> dirichlet(std::size_t count, double alpha);

  template <typename T>
  void shuffle(std::span<T> values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }
  // 0 … count-1 in random order.
  std::vector<std::size_t> permutation(std::size_t count);

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace dfrost
