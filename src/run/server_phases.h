// A round around a server, in two phases. It hands its state out to the clients that take part; they train it
// and send it back, and it merges what came: prompts by merge.kind, all else averaged, both weighted by the
// number of pictures that a client has (McMahan et al. 2017, FedAvg). What stays at the clients (a head, with
// HeadMerge::own) does not travel, in neither direction. A client that hears nothing from the server sits the
// round out.
#pragma once

#include "config/config.h"
#include "run/phase.h"
#include "run/update_phase.h"

namespace dfrost {

// Whether a part of a client's state is the server's to hand out and to collect.
bool is_shared(std::string_view part, const MergeSection& merge);

// The client's model as the server would have it: its own state with all shared parts of the server's.
Node served_model(const Node& server, const Node& client, const MergeSection& merge);

// Server to clients.
class HandOutPhase final : public Phase {
 public:
  explicit HandOutPhase(const MergeSection& merge) : merge_(merge) {}

  std::string_view work_stage() const override { return "hand out"; }
  std::string_view absorb_stage() const override { return "take over"; }
  bool speaks(NodeRole role) const override { return role == NodeRole::server; }
  void work(Node& node, const RoundPlan& plan, Workplace place, NodeReport& report) const override;
  std::vector<Letter> letters(const Node& node, const RoundPlan& plan) const override;
  std::vector<TensorPattern> expected(const Node& node) const override;
  void absorb(Node& node, const Inbox& inbox, const RoundPlan& plan, NodeReport& report) const override;

 private:
  MergeSection merge_;
};

// Clients train; clients to server.
class CollectPhase final : public Phase {
 public:
  CollectPhase(const TrainOptions& train, const MergeSection& merge, Seed seed,
               const PrivateRounds& privacy = {})
      : update_(train, merge, seed, privacy), merge_(merge), seed_(seed) {}

  bool speaks(NodeRole role) const override { return role == NodeRole::client; }
  void work(Node& node, const RoundPlan& plan, Workplace place, NodeReport& report) const override;
  std::vector<Letter> letters(const Node& node, const RoundPlan& plan) const override;
  std::vector<TensorPattern> expected(const Node& node) const override;
  void absorb(Node& node, const Inbox& inbox, const RoundPlan& plan, NodeReport& report) const override;

 private:
  UpdatePhase update_;  // for what a client does between the two
  MergeSection merge_;
  Seed seed_;
};

}  // namespace dfrost
