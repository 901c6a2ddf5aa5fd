#include "run/mailbox_rules.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace dfrost {
namespace {

// The neighbours of one node in the rounds that were asked for last.
class NeighbourLists {
 public:
  NeighbourLists(GraphOfRound graph, std::uint64_t kept, ClientId self)
      : graph_(std::move(graph)), kept_(kept), self_(self) {}

  bool contain(ClientId sender, std::uint64_t round) {
    const std::lock_guard lock(mutex_);
    auto found = lists_.find(round);
    if (found == lists_.end()) {
      const Graph graph = graph_(round);
      const auto neighbours = self_ < graph.clients() ? graph.neighbours(self_) : std::span<const ClientId>();
      found = lists_.emplace(round, std::vector<ClientId>(neighbours.begin(), neighbours.end())).first;
      if (lists_.size() > kept_) forget_oldest(found);
    }
    return std::ranges::binary_search(found->second, sender);
  }

 private:
  using Lists = std::map<std::uint64_t, std::vector<ClientId>>;

  void forget_oldest(Lists::const_iterator but) {
    const auto oldest = lists_.cbegin();
    if (oldest != but) lists_.erase(oldest);
  }

  const GraphOfRound graph_;
  const std::uint64_t kept_;
  const ClientId self_;
  std::mutex mutex_;
  Lists lists_;
};

}  // namespace

MailboxOptions mailbox_options(const Method& method, std::uint64_t rounds_ahead,
                               std::span<const Node> nodes) {
  MailboxOptions options{.rounds_ahead = rounds_ahead,
                         .phases_per_round = static_cast<std::uint32_t>(
                             std::max(method.phases.size(), method.preparation.size()))};
  std::size_t longest = 0;
  for (const auto* phases : {&method.phases, &method.preparation}) {
    for (const auto& phase : *phases) {
      for (const auto& node : nodes) {
        const auto bytes = longest_message_bytes(phase->expected(node));
        if (!bytes) return options;
        longest = std::max(longest, *bytes);
      }
    }
  }
  if (longest > 0) options.message_limit_bytes = std::min(options.message_limit_bytes, longest);
  return options;
}

std::function<bool(ClientId sender, Moment moment)> neighbours_of(GraphOfRound graph, std::uint64_t kept,
                                                                  ClientId self) {
  return [lists = std::make_shared<NeighbourLists>(std::move(graph), kept, self)](
             ClientId sender, Moment moment) { return lists->contain(sender, moment.round); };
}

}  // namespace dfrost
