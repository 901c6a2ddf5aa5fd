#include "peer/rejoin.h"

#include <algorithm>

#include "peer/company.h"

namespace dfrost {
namespace {

// What counts as a word on where the others are: not of those who look for it themselves.
bool reports_a_round(const PeerView& view) {
  if (!view.alive || !view.pulse || view.pulse->round == 0) return false;
  const auto stage = static_cast<PeerStage>(view.pulse->stage);
  return stage != PeerStage::start && stage != PeerStage::adopt;
}

}  // namespace

std::vector<std::uint64_t> furthest_rounds(ClientId self, std::uint64_t next, std::uint64_t last,
                                           std::size_t members, const GraphOfRound& graph) {
  std::vector<std::uint64_t> furthest(members, last);
  std::vector<bool> bound(members, false);
  bound[self] = true;
  furthest[self] = next;
  for (std::uint64_t round = next; round < last; ++round) {
    const Graph links = graph(round);
    auto now = bound;
    for (std::size_t member = 0; member < std::min(links.clients(), members); ++member) {
      if (!bound[member]) continue;
      for (const ClientId neighbour : links.neighbours(static_cast<ClientId>(member))) {
        if (now[neighbour]) continue;
        now[neighbour] = true;
        furthest[neighbour] = round;
      }
    }
    bound = std::move(now);
  }
  return furthest;
}

std::optional<std::uint64_t> round_to_join(ClientId self, std::uint64_t next,
                                           std::span<const PeerView> others, const GraphOfRound& graph) {
  std::vector<std::uint64_t> reported;
  std::size_t members = self + 1;
  for (const auto& view : others) {
    members = std::max<std::size_t>(members, view.number + 1);
    if (reports_a_round(view)) reported.push_back(view.pulse->round);
  }
  if (reported.empty()) return std::nullopt;
  const std::uint64_t last = *std::ranges::max_element(reported);
  if (last <= next) return std::nullopt;  // the common case: nothing to draw
  const auto furthest = furthest_rounds(self, next, last, members, graph);
  std::size_t beyond = 0;
  for (const auto& view : others)
    if (reports_a_round(view) && view.pulse->round > std::max(furthest[view.number], next)) ++beyond;
  if (beyond < std::min<std::size_t>(2, others.size())) return std::nullopt;
  const auto middle = reported.begin() + static_cast<std::ptrdiff_t>((reported.size() - 1) / 2);
  std::ranges::nth_element(reported, middle);
  return *middle > next ? std::optional(*middle) : std::nullopt;
}

}  // namespace dfrost
