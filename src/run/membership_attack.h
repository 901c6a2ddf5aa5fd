// A hostile member's attack on what clients sent in their last round, made by the observer who knows the
// answers: who of some pictures was trained on? Two attackers, one with the client's model alone and one who
// compares it with those of other clients (shadow models: trained the same way, on other pictures). A
// function of the nodes and the seed.
#pragma once

#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "measure/evaluation.h"
#include "records/record.h"
#include "run/corpus_samples.h"
#include "run/node.h"

namespace dfrost {

struct AttackedClients {
  ScoringOptions options;
  ClassMask mask = ClassMask::domain;
  Seed seed = 0;
  std::span<const Node> clients;
  std::span<const SampleSubset> samples;  // of each
  const SampleSource& held_out;
};

// Of the clients `chosen`; one workspace per thread.
MembershipRecord attack_members(const AttackedClients& all, std::span<const std::size_t> chosen,
                                ThreadPool& threads, std::span<Workspace> workspaces);

}  // namespace dfrost
