// What must hold of a federation before anybody relies on it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "backbone/backbone_names.h"
#include "base/quote.h"
#include "base/text.h"
#include "dfrost/error.h"
#include "federation/federation_file.h"
#include "federation/hex.h"
#include "federation/methods_of_sites.h"
#include "federation/names.h"
#include "federation/portable_config.h"

namespace dfrost {
namespace {

[[noreturn]] void misfit(const std::string& message, std::string hint = {}) {
  throw Error(ErrorCode::failed_precondition, message, std::move(hint));
}

void check_rounds(const Member& member) {
  if (member.from_round == 0 || (member.until_round != 0 && member.until_round < member.from_round))
    misfit(fmt::format("{} is to take part from round {} until {}", member.name, member.from_round,
                       member.until_round));
}

// `what` of two members is the same.
void check_once(std::map<std::string, const Member*>& seen, const std::string& value, const Member& member,
                std::string_view what, const std::string& hint) {
  const auto [earlier, is_new] = seen.emplace(value, &member);
  if (is_new) return;
  misfit(fmt::format("{} and {} have the same {}", earlier->second->name, member.name, what), hint);
}

void check_members(const Federation& federation) {
  if (federation.members.empty()) misfit("a federation without members");
  std::map<std::string, const Member*> names, keys, addresses;
  for (std::size_t i = 0; i < federation.members.size(); ++i) {
    const Member& member = federation.members[i];
    check_member_name(member.name);
    if (!member.address.empty()) parse_address(member.address);
    if (member.number != i)
      misfit(fmt::format("{} has the number {} where {} is next", member.name, member.number, i));
    check_rounds(member);
    // Names are names of files at other sites, also where capitals do not count.
    check_once(names, lower_case(member.name), member, "name",
               "names, like numbers, are given once: make another site with 'dfrost peer init'");
    check_once(keys, to_hex(member.public_key), member, "key",
               "each site makes its own by 'dfrost peer init'; a key that left does not come back");
    if (!member.address.empty())
      check_once(addresses, lower_case(member.address), member, "address", "give each its own port");
  }
}

void check_classes(const Federation& federation, const RunConfig& config) {
  std::set<std::string_view> seen;
  std::size_t domain = 0;
  const auto& domains = config.data.domains;
  for (const auto& name : federation.classes) {
    while (domain < domains.size() && !name.starts_with(domains[domain].name + "/")) ++domain;
    if (domain == domains.size())
      misfit(fmt::format("the class {} is of no domain of the experiment, or not in its order",
                         quote_name(name)));
    if (!seen.insert(name).second) misfit(fmt::format("the class {} is listed twice", quote_name(name)));
  }
  if (federation.classes.size() < 2) misfit("fewer than two classes: nothing to tell apart");
}

// The experiment's clients are the first members; those who come later bring pictures of their own.
void check_numbers(const Federation& federation, const RunConfig& config) {
  const auto clients = config.clients();
  const std::size_t members = federation.members.size();
  const bool fits = clients && (federation.revision == 1 ? members == *clients : members >= *clients);
  if (!fits)
    misfit(fmt::format("the experiment has {} clients and the federation {} member{}", clients.value_or(0),
                       members, members == 1 ? "" : "s"),
           fmt::format("set partition.clients_per_domain so that the number of domains ({}) times it is the "
                       "number of members",
                       config.data.domains.size()));
  std::set<std::size_t> sizes;
  for (const auto& member : federation.members) sizes.insert(federation.nodes_in(member.from_round));
  for (const std::size_t nodes : sizes) config.validate_network(nodes);
  // Nobody joins or leaves between two of these.
  std::set<std::uint64_t> changes = {1};
  for (const auto& member : federation.members) {
    changes.insert(member.from_round);
    if (member.until_round != 0) changes.insert(member.until_round);
  }
  for (const std::uint64_t round : changes) {
    if (round > std::max<std::size_t>(config.run.rounds, 1)) continue;
    if (std::ranges::count(federation.present_in(round), true) == 0)
      misfit(fmt::format("nobody takes part in round {}", round));
  }
  const auto present = static_cast<std::size_t>(std::ranges::count(federation.present_in(1), true));
  if (federation.quorum > present)
    misfit(fmt::format("the quorum is {}, and {} take part in round 1", federation.quorum, present),
           "a quorum is the number of members that must be linked before round 1");
}

void check_method(const RunConfig& config) {
  try {
    check_methods_of_sites(config);
  } catch (const Error& error) {
    misfit(error.what(), "ask the founder for a file of another experiment, and do not join this one");
  }
}

bool meet(const Member& a, const Member& b) {
  const std::uint64_t round = std::max(a.from_round, b.from_round);
  return a.takes_part_in(round) && b.takes_part_in(round);
}

}  // namespace

void check_federation(const Federation& federation) {
  check_member_name(federation.name);
  const auto fingerprint = from_hex(federation.backbone_fingerprint);
  if (!fingerprint || fingerprint->size() != 8) misfit("the frozen model's fingerprint is damaged");
  const RunConfig config = federation.config();
  check_portable(federation.experiment);
  check_method(config);
  check_members(federation);
  check_classes(federation, config);
  check_numbers(federation, config);
}

void check_reachable(const Federation& federation) {
  for (const auto& a : federation.members) {
    if (!a.address.empty()) continue;
    for (const auto& b : federation.members) {
      if (b.number == a.number || !b.address.empty() || !meet(a, b)) continue;
      const auto& [first, second] =
          std::minmax(a, b, [](const auto& x, const auto& y) { return x.number < y.number; });
      misfit(
          fmt::format("neither {} nor {} has an address: nobody can dial the other", first.name, second.name),
          "give at least one of them an address that the others reach: 'dfrost peer init --address'");
    }
  }
}

}  // namespace dfrost
