#include "peer/roster.h"

#include <fmt/format.h>

#include <algorithm>

#include "dfrost/error.h"

namespace dfrost {

const RoundPlanner& Roster::planner(std::size_t nodes) const {
  const std::lock_guard lock(mutex_);
  auto found = planners_.find(nodes);
  if (found == planners_.end()) found = planners_.try_emplace(nodes, network_, nodes, seed_).first;
  return found->second;
}

RoundPlan Roster::plan(std::uint64_t round) const {
  const std::uint64_t when = std::max<std::uint64_t>(round, 1);
  return planner(federation_.nodes_in(when)).plan(round, federation_.present_in(when));
}

RoundPlan Roster::plan_preparation(ClientId number) const {
  if (member(number).takes_part_in(1)) return plan(0);
  const PlanOptions alone{.gathering = Gathering::nobody};
  return RoundPlanner(alone, std::size_t{number} + 1, seed_).plan(0);
}

const Member& Roster::member(ClientId number) const {
  const auto found = std::ranges::find(federation_.members, number, &Member::number);
  if (found == federation_.members.end())
    throw Error(ErrorCode::invalid_argument, fmt::format("the federation has no member {}", number));
  return *found;
}

const std::string& Roster::name(ClientId number) const { return member(number).name; }

std::uint64_t Roster::last_round(ClientId number, std::uint64_t rounds) const {
  const std::uint64_t until = member(number).until_round;
  return until == 0 ? rounds : std::min(rounds, until - 1);
}

// One more than in a simulation with nothing amiss: who comes back finds what it missed.
std::uint64_t Roster::rounds_ahead(std::uint64_t rounds) const {
  return planner(federation_.nodes_in(std::max<std::uint64_t>(rounds, 1))).rounds_ahead() + 1;
}

}  // namespace dfrost
