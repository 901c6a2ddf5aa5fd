#include "federation/revision.h"

#include <fmt/format.h>

#include "base/quote.h"
#include "base/suggest.h"
#include "base/version.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

Federation next_revision(const Federation& federation) {
  Federation next = federation;
  next.history.push_back(federation.hash());
  next.revision = federation.revision + 1;
  next.software = std::string(version());
  next.text_hash.clear();
  return next;
}

void check_round(const Federation& federation, std::uint64_t round) {
  const std::size_t rounds = federation.config().run.rounds;
  if (round >= 1 && round <= rounds) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("round {} is none of the {} rounds of the experiment", round, rounds))
      .at("--from-round");
}

Federation checked(Federation federation) {
  check_federation(federation);
  check_reachable(federation);
  return federation;
}

}  // namespace

void require_founder(const Federation& federation, const PrivateKey& key) {
  if (key.public_key() == federation.founder_key) return;
  throw Error(
      ErrorCode::permission_denied,
      fmt::format("only the founder of {} may change it, and this site's key is another", federation.name),
      "run it with --as and the site that 'dfrost federation create' was run with");
}

Federation with_member(const Federation& federation, const MemberFile& member, std::uint64_t from_round) {
  check_round(federation, from_round);
  Federation next = next_revision(federation);
  if (next.members.size() == kMostInFederation)
    throw Error(ErrorCode::invalid_argument, fmt::format("there are {} members already", kMostInFederation));
  next.members.push_back({.number = static_cast<ClientId>(next.members.size()),
                          .name = member.name,
                          .address = member.address,
                          .public_key = member.public_key,
                          .from_round = from_round});
  return checked(std::move(next));
}

Federation without_member(const Federation& federation, std::string_view name, std::uint64_t from_round) {
  check_round(federation, from_round);
  Federation next = next_revision(federation);
  std::vector<std::string> names;
  for (auto& member : next.members) {
    names.push_back(member.name);
    if (member.name != name) continue;
    if (member.until_round != 0)
      throw Error(ErrorCode::invalid_argument, fmt::format("{} takes part no more from round {} on already",
                                                           member.name, member.until_round));
    if (from_round < member.from_round)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{} takes part from round {} on; it cannot leave before", member.name,
                              member.from_round))
          .at("--from-round");
    member.until_round = from_round;
    return checked(std::move(next));
  }
  throw Error(ErrorCode::invalid_argument, fmt::format("there is no member {}", quote_name(name)),
              did_you_mean(name, names, "'dfrost federation show' lists them"));
}

Succession succession(const Federation& joined, const Federation& offered) {
  const std::string hash = joined.hash();
  if (offered.hash() == hash) return Succession::same;
  if (offered.founder_key != joined.founder_key || offered.id().bytes != joined.id().bytes)
    return Succession::stranger;
  const auto listed = [](const Federation& later, const Federation& earlier, const std::string& digits) {
    return later.history.size() >= earlier.revision && later.history[earlier.revision - 1] == digits;
  };
  if (listed(offered, joined, hash)) return Succession::follows;
  return listed(joined, offered, offered.hash()) ? Succession::older : Succession::forked;
}

}  // namespace dfrost
