// Who is in a federation in which round, and the plan that everybody draws from it: seed, round and the
// joined file alone, so that nobody has to be asked.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "federation/federation_file.h"
#include "run/method.h"
#include "run/round_plan.h"

namespace dfrost {

class Roster {
 public:
  // The federation outlives it.
  Roster(const Federation& federation, const PlanOptions& network, Seed seed)
      : federation_(federation), network_(network), seed_(seed) {}

  // Round 0 is what comes before the first one, with those who are there from the first on.
  RoundPlan plan(std::uint64_t round) const;
  // Of round 0, as this member goes through it: who comes later is alone in it.
  RoundPlan plan_preparation(ClientId member) const;
  // Of all that ever take part.
  std::size_t members() const { return federation_.members.size(); }
  const std::string& name(ClientId member) const;
  // The last round in which it takes part.
  std::uint64_t last_round(ClientId member, std::uint64_t rounds) const;
  const Member& member(ClientId number) const;
  // What a mailbox must keep.
  std::uint64_t rounds_ahead(std::uint64_t rounds) const;

 private:
  const RoundPlanner& planner(std::size_t nodes) const;

  const Federation& federation_;
  PlanOptions network_;
  Seed seed_;
  mutable std::mutex mutex_;                              // the network's thread asks too
  mutable std::map<std::size_t, RoundPlanner> planners_;  // by the number of nodes
};

}  // namespace dfrost
