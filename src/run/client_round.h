// One round of one client: train, send, receive, merge, once its Exchange listens for the round. Written
// once, over Exchange: the simulator and a real peer run this same code and differ only in the Exchange they
// pass. Runs on the calling thread; everything random comes from (seed, client, round).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "config/config.h"
#include "dfrost/merge.h"
#include "measure/merge_view.h"
#include "network/exchange.h"
#include "network/message.h"
#include "network/mixing.h"
#include "train/client_state.h"
#include "train/local_update.h"

namespace dfrost {

struct Client {
  ClientId id = 0;
  AdapterOptions adapter;  // its own number of prompts
  ClientState state;
  // The prompts that the round began with: what MergeInit::previous starts from.
  std::vector<float> previous_prompts;
};

struct TrainReport {
  double loss = 0;  // of the last epoch
  std::size_t images = 0;
  bool diverged = false;  // the update was not finite, and the client kept the state it had
};

TrainReport train_client(Client& client, const SampleSource& samples, const RunConfig& config,
                         std::uint64_t round, Workspace& workspace);

// The client's state to each of its neighbours, in one message for all.
void send_state(const Client& client, std::span<const ClientId> neighbours, std::uint64_t round,
                Exchange& exchange);

// What arrived of the round, checked; in the order of the neighbours. Refused and missing ones are counted.
struct Inbox {
  std::vector<Message> messages;
  std::vector<double> weights;  // of each message's sender, in the mixing matrix
  double self_weight = 1;       // and the client's own, with that of whoever is missing
  std::size_t missing = 0;
  std::vector<Refusal> refused;
};
Inbox receive_states(const Client& client, const MixingMatrix& mixing, std::uint64_t round,
                     Exchange::Deadline deadline, Exchange& exchange);

struct MergeReport {
  bool merged = false;  // false: nobody to merge with
  double off_index_mass = 0;
  double error = 0;              // W₂² between the neighbourhood and its summary
  std::size_t dead_prompts = 0;  // that had no mass in some step
  TheoremCheck theorem = {};
  std::optional<MergeView> view = {};
  double merge_seconds = 0;    // the merge alone,
  double measure_seconds = 0;  // and what is measured of it: the error, the view
};

// Prompts by merge.kind, and with transport their separate keys the same way; everything else by the mixing
// weights, or not at all with HeadMerge::own.
// `with_view` also keeps the merge to be looked at; it changes no result.
MergeReport merge_states(Client& client, const Inbox& inbox, const RunConfig& config, std::uint64_t round,
                         bool with_view = false);

}  // namespace dfrost
