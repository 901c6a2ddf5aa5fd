// A whole federation in one process: every client's state over one shared backbone, round by round, clients
// side by side on all threads. Each client runs the code of run/client_round.h; here is only who does so
// when, and what is measured. The state after a round is a function of the config and the data: not of
// threads, nor of stops between.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/thread_pool.h"
#include "config/config.h"
#include "dfrost/backbone.h"
#include "network/faults.h"
#include "network/in_process_exchange.h"
#include "partition/partition.h"
#include "records/about.h"
#include "records/record.h"
#include "run/client_round.h"
#include "run/corpus_samples.h"
#include "run/federation_state.h"

namespace dfrost {

class Federation {
 public:
  // Called from any thread, one call at a time.
  struct Progress {
    std::string_view stage;  // "train", "merge", "evaluate"
    std::size_t done = 0;    // clients
    std::size_t total = 0;
    std::size_t images = 0;  // seen in this round's training so far
  };
  using ProgressCallback = std::function<void(const Progress&)>;

  // The backbone must outlive it.
  Federation(const RunConfig& config, const Backbone& backbone, const Preprocessing& preprocessing,
             Corpus corpus);

  // The next round. An exception leaves the federation unusable.
  RoundRecord run_round(const ProgressCallback& progress = {});

  // What there is to record before the first round: nobody has trained or talked.
  RoundRecord score_untrained(const ProgressCallback& progress = {});

  std::size_t rounds_done() const { return round_; }
  const std::vector<Client>& clients() const { return clients_; }
  const Corpus& corpus() const { return corpus_; }
  const Partition& partition() const { return partition_; }
  const Topology& topology() const { return topology_; }
  std::size_t threads() const { return threads_.size(); }
  Participants participants() const;  // refers to this
  // Barycenter prompts and mean head, as of the last measurement.
  const Client& network_model() const { return network_model_; }

  FederationState state() const;
  // Throws (data_loss) when it is not the state of a federation such as this one.
  void restore(std::size_t round, const FederationState& state);

 private:
  RoundNetwork draw_network() const;
  void train_all(const RoundNetwork& network, const ProgressCallback& progress, RoundRecord& record);
  void exchange_all(const RoundNetwork& network, const ProgressCallback& progress, RoundRecord& record);
  void measure(RoundRecord& record);
  EvaluationRecord evaluate_all(const ProgressCallback& progress);
  bool is_evaluated(std::size_t round) const;

  RunConfig config_;
  Corpus corpus_;
  CorpusSamples train_samples_;
  CorpusSamples test_samples_;
  Partition partition_;
  std::vector<bool> seen_;  // per client: its merges are kept to be looked at
  std::vector<Client> clients_;
  Client network_model_;
  Topology topology_;
  InProcessNetwork exchanges_;
  ThreadPool threads_;
  std::vector<Workspace> workspaces_;  // one per thread
  std::size_t round_ = 0;
};

}  // namespace dfrost
