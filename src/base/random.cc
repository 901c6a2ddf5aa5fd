#include "base/random.h"

#include <bit>
#include <cassert>
#include <cmath>
#include <numbers>
#include <numeric>

namespace dfrost {
namespace {

std::uint64_t split_mix(std::uint64_t& x) {
  std::uint64_t z = (x += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// FNV-1a: short, and the same everywhere, unlike std::hash.
std::uint64_t hash(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h;
}

}  // namespace

RandomStream::RandomStream(Seed seed, std::string_view purpose, std::uint64_t client, std::uint64_t round) {
  // Each part passes through the mixer before the next is added, so that (client 1, round 2) and
  // (client 2, round 1) do not meet.
  std::uint64_t key = seed;
  for (const std::uint64_t part : {hash(purpose), client, round}) key = split_mix(key) ^ part;
  for (auto& word : state_) word = split_mix(key);
}

std::uint64_t RandomStream::next() {
  auto& s = state_;
  const std::uint64_t result = std::rotl(s[0] + s[3], 23) + s[0];
  const std::uint64_t t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = std::rotl(s[3], 45);
  return result;
}

double RandomStream::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

std::uint64_t RandomStream::below(std::uint64_t bound) {
  assert(bound > 0);
  // Rejecting the first 2^64 mod bound values leaves a multiple of bound.
  const std::uint64_t reject = (0 - bound) % bound;
  for (;;) {
    const std::uint64_t x = next();
    if (x >= reject) return x % bound;
  }
}

double RandomStream::normal() {
  // Box-Muller without keeping the second value: the state is then the whole state.
  const double u = 1.0 - uniform();
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * uniform());
}

double RandomStream::gamma(double shape) {
  assert(shape > 0);
  // Marsaglia and Tsang (2000); below 1 by the boosting identity Gamma(a) = Gamma(a+1) U^(1/a).
  if (shape < 1) return gamma(shape + 1) * std::pow(1.0 - uniform(), 1.0 / shape);
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double x = normal();
    const double v = std::pow(1.0 + c * x, 3);
    if (v > 0 && std::log(1.0 - uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

std::vector<double> RandomStream::dirichlet(std::size_t count, double alpha) {
  std::vector<double> shares(count);
  double sum = 0;
  for (double& share : shares) sum += share = gamma(alpha);
  if (!(sum > 0)) {  // every gamma underflowed (alpha near 0): the limit puts all mass on one
    shares.assign(count, 0.0);
    shares[below(count)] = sum = 1.0;
  }
  if (std::isinf(sum)) {  // alpha near the largest double: the limit is even
    shares.assign(count, 1.0);
    sum = static_cast<double>(count);
  }
  for (double& share : shares) share /= sum;
  return shares;
}

std::vector<std::size_t> RandomStream::permutation(std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  shuffle(std::span(order));
  return order;
}

}  // namespace dfrost
