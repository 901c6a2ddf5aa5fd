#include "config/hostile_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "dfrost/error.h"
#include "merge/merge_kinds.h"

namespace dfrost {
namespace {

[[noreturn]] void refuse_at(const std::string& key, const std::string& message, std::string hint) {
  throw Error(ErrorCode::invalid_argument, message, std::move(hint)).at(key);
}

// Where states are trained, sent to neighbours and merged with a fixed number of prompts.
void require_plain_round(const RunConfig& config, const std::string& key, std::string_view what) {
  if (config.method.cooperation != Cooperation::peers) {
    refuse_at(key,
              fmt::format("{} between neighbours, and with method.cooperation '{}' there are none", what,
                          to_string(config.method.cooperation)),
              "use method.cooperation 'peers'");
  }
  if (config.method.round != RoundKind::update) {
    refuse_at(
        key,
        fmt::format("{} the state that a client has trained, and a round of kind '{}' sends one that is "
                    "corrected after it was mixed",
                    what, to_string(config.method.round)),
        "use method.round 'update'");
  }
  if (config.pool_grows()) {
    refuse_at(key,
              fmt::format("{} sets of a known size, and pools by '{}' grow", what,
                          to_string(config.merge.pool.kind)),
              "use merge.pool 'fixed'");
  }
}

void check_attack(const RunConfig& config) {
  const auto& attack = config.attack;
  if (!attack.is_on()) return;
  require_plain_round(config, "attack.kind", "attacks forge");
  const auto clients = config.clients();
  if (!clients) return;
  for (const std::size_t client : attack.clients) {
    if (client < *clients) continue;
    refuse_at("attack.clients", fmt::format("there is no client {}: they are 0 to {}", client, *clients - 1),
              "");
  }
  if (std::ranges::count_if(attack.clients, [&](std::size_t client) {
        return std::ranges::count(attack.clients, client) > 1;
      }) > 0) {
    refuse_at("attack.clients", "a client is named twice", "name each hostile client once");
  }
  if (attack.clients.size() >= *clients)
    refuse_at("attack.clients", "all clients are hostile, and nobody is left to be attacked",
              "leave at least one out");
}

void check_defence(const RunConfig& config) {
  const auto& merge = config.merge;
  const auto& defence = merge.defence;
  if (!merge.defends()) return;
  require_plain_round(config, "defence", "defences are for");
  if (defence.reject > 0 && defence.reject < 1)
    refuse_at(
        "defence.reject",
        fmt::format("{} would not believe senders that are nearer to the rest than is usual", defence.reject),
        "use 1 or more, 2 for a start, or 0 to believe all");
  if (defence.head_trim > 0 && defence.head_median > 0)
    refuse_at("defence.head_median", "a head is a trimmed mean or a geometric median, not both",
              "set defence.head_trim or defence.head_median to 0");
  const bool of_heads = defence.head_clip.is_on() || defence.head_nearest > 0 || defence.head_trim > 0 ||
                        defence.head_median > 0;
  const bool by_index = !merge.custom && !traits_of(merge.kind).transports;
  if (of_heads && merge.head == HeadMerge::own && !by_index)
    refuse_at("defence.head", "with merge.head 'own' no head of another ever counts",
              "leave the keys of defence that begin with head_ at 0");
  if (defence.clip.is_on() && by_index) {
    refuse_at("defence.clip", "prompts that are averaged by index have no transport plan to be moved along",
              "defence.head_clip holds for them too; or use merge.kind 'ot' or 'barycenter'");
  }
  if (merge.custom && (merge.trim > 0 || merge.median > 0))
    refuse_at("defence.trim", "a merge of the program's own takes no notice of it", "leave it at 0");
  if (defence.clip.is_on() && config.prompts.keys == PoolKeys::separate && !config.prompts.counts.empty()) {
    refuse_at("defence.clip", "a prompt that is split in two has one key only",
              "use prompts.keys 'prompts', or the same number of prompts everywhere");
  }
}

}  // namespace

bool DefenceOptions::is_on() const {
  return reject > 0 || clip.is_on() || head_clip.is_on() || head_nearest > 0 || head_trim > 0 ||
         head_median > 0 || mass_cap > 0;
}

void check_hostile(const RunConfig& config) {
  check_attack(config);
  check_defence(config);
}

}  // namespace dfrost
