#include "network/random_graph.h"

#include <algorithm>
#include <cassert>
#include <unordered_set>
#include <utility>

namespace dfrost {
namespace {

std::uint64_t key_of(Edge edge) { return std::uint64_t{edge.first} << 32 | edge.second; }

// Pairs of ends on their way to a simple graph. A pair is sound when it is a link: no loop, no copy of
// another.
class Pairing {
 public:
  // Every client puts `degree` ends into a bag; the bag is shuffled and neighbours in it are joined.
  Pairing(std::size_t clients, std::size_t degree, RandomStream& random) : random_(random) {
    std::vector<ClientId> ends;
    ends.reserve(clients * degree);
    for (std::size_t client = 0; client < clients; ++client) {
      ends.insert(ends.end(), degree, static_cast<ClientId>(client));
    }
    random_.shuffle(std::span(ends));
    links_.reserve(ends.size() / 2);
    for (std::size_t i = 0; i < ends.size(); i += 2) {
      pairs_.push_back(make_edge(ends[i], ends[i + 1]));
      sound_.push_back(ends[i] != ends[i + 1] && links_.insert(key_of(pairs_.back())).second);
    }
  }

  // Makes every pair sound. False when that does not come about: in tiny graphs there may be no way.
  bool repair() {
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      int attempts_left = 1000;
      while (!sound_[i] && attempts_left-- > 0) switch_with_another(i);
      if (!sound_[i]) return false;
    }
    return true;
  }

  // A repaired pairing favours some graphs a little. Random switches between sound pairs walk through all
  // regular graphs and favour none (Cooper, Dyer and Greenhill, 2007). What a large graph has of such a bias
  // is spread too thin to matter, so the walk is bounded.
  void mix() {
    constexpr std::size_t kMostSwitches = 100'000;
    const std::size_t switches = std::min(10 * pairs_.size(), kMostSwitches);
    for (std::size_t i = 0; i < switches; ++i) switch_with_another(random_.below(pairs_.size()));
  }

  std::vector<Edge> take() { return std::move(pairs_); }

 private:
  // Exchanges ends between pair `index` and a random sound one, if both become links that were not there.
  void switch_with_another(std::size_t index) {
    const std::size_t other = random_.below(pairs_.size());
    const bool flip = random_.below(2) == 1;
    if (other == index || !sound_[other]) return;
    const auto [a, b] = pairs_[index];
    auto [c, d] = pairs_[other];
    if (flip) std::swap(c, d);
    if (a == c || b == d) return;
    const Edge one = make_edge(a, c);
    const Edge two = make_edge(b, d);
    if (one == two || links_.contains(key_of(one)) || links_.contains(key_of(two))) return;
    if (sound_[index]) links_.erase(key_of(pairs_[index]));
    links_.erase(key_of(pairs_[other]));
    links_.insert({key_of(one), key_of(two)});
    pairs_[index] = one;
    pairs_[other] = two;
    sound_[index] = true;
  }

  RandomStream& random_;
  std::vector<Edge> pairs_;
  std::vector<bool> sound_;
  std::unordered_set<std::uint64_t> links_;  // only asked and changed, never walked: no order leaks
};

std::vector<Edge> complement(std::size_t clients, std::vector<Edge> edges) {
  std::sort(edges.begin(), edges.end());
  std::vector<Edge> absent;
  auto next = edges.begin();
  for (ClientId a = 0; a < clients; ++a) {
    for (ClientId b = a + 1; b < clients; ++b) {
      if (next != edges.end() && *next == Edge{a, b}) {
        ++next;
      } else {
        absent.push_back({a, b});
      }
    }
  }
  return absent;
}

}  // namespace

std::vector<Edge> erdos_renyi_edges(std::size_t clients, std::size_t degree, RandomStream& random) {
  assert(clients >= 2 && degree < clients);
  const double probability = static_cast<double>(degree) / static_cast<double>(clients - 1);
  std::vector<Edge> edges;
  // One draw per pair. Jumping from link to link by logarithms would draw less, but a logarithm may round
  // differently on another machine, and then two peers would disagree about the graph.
  for (ClientId a = 0; a < clients; ++a) {
    for (ClientId b = a + 1; b < clients; ++b) {
      if (random.uniform() < probability) edges.push_back({a, b});
    }
  }
  return edges;
}

std::vector<Edge> random_regular_edges(std::size_t clients, std::size_t degree, RandomStream& random) {
  assert(degree < clients && clients * degree % 2 == 0);
  // In a dense graph most exchanges of ends meet a link that is there already; its complement is sparse, and
  // complements of uniform graphs are uniform.
  if (2 * degree >= clients) {
    return complement(clients, random_regular_edges(clients, clients - 1 - degree, random));
  }
  for (;;) {
    Pairing pairing(clients, degree, random);
    if (!pairing.repair()) continue;
    pairing.mix();
    return pairing.take();
  }
}

}  // namespace dfrost
