// A whole federation in one process: every node's state over one shared backbone. It is the driver of
// run/round.h that holds all nodes, and the observer that sees all of them at once: consensus error, network
// model and scores are measured beside the round, not in it. The state after a round is a function of the
// config and the data: not of threads, nor of stops between.
#pragma once

#include <vector>

#include "base/thread_pool.h"
#include "config/config.h"
#include "dfrost/backbone.h"
#include "network/in_process_exchange.h"
#include "partition/partition.h"
#include "records/about.h"
#include "records/record.h"
#include "records/savepoint_file.h"
#include "run/corpus_samples.h"
#include "run/method.h"
#include "run/node.h"
#include "run/round.h"
#include "run/round_plan.h"

namespace dfrost {

class Simulation {
 public:
  // The backbone must outlive it.
  Simulation(const RunConfig& config, const Backbone& backbone, const Preprocessing& preprocessing,
             Corpus corpus);
  // The same by a method that no setting names.
  Simulation(const RunConfig& config, Method method, const Backbone& backbone,
             const Preprocessing& preprocessing, Corpus corpus);

  // The next round. An exception leaves the simulation unusable.
  RoundRecord run_round(const RoundProgressCallback& progress = {});

  // What there is to record before the first round: nobody has trained or talked.
  RoundRecord score_untrained(const RoundProgressCallback& progress = {});

  std::size_t rounds_done() const { return round_; }
  // Clients, in their order; a server, where there is one, comes last.
  const std::vector<Node>& nodes() const { return nodes_; }
  std::span<const Node> clients() const { return std::span(nodes_).first(partition_.clients.size()); }
  const Method& method() const { return method_; }
  const Corpus& corpus() const { return corpus_; }
  const Partition& partition() const { return partition_; }
  const Topology& topology() const { return planner_.topology(); }
  std::size_t threads() const { return threads_.size(); }
  Participants participants() const;  // refers to this
  // What a client is scored by: its own state or, around a server, the server's with what the client keeps.
  Node model_of(const Node& client) const;
  // Barycenter prompts and mean head, or the server's, as of the last measurement.
  const Node& network_model() const { return network_model_; }

  SavedNodes state() const;
  // Throws (data_loss) when it is not the state of a federation such as this one.
  void restore(std::size_t round, const SavedNodes& state);

 private:
  RoundPlan plan_round() const;
  void prepare(RoundRecord& record, const RoundProgressCallback& progress);
  void record_exchange(RoundOutcome& outcome, const ExchangeCounts& before, RoundRecord& record);
  void measure(RoundRecord& record);
  bool has_server() const { return nodes_.size() > clients().size(); }
  void measure_around_server(RoundRecord& record);
  bool scores_differ() const;
  void evaluate_all(RoundRecord& record, const RoundProgressCallback& progress);
  void record_attack(std::span<const NodeReport> reports, RoundRecord& record);
  void score_backdoor(std::span<const std::size_t> scored, std::span<const std::size_t> samples,
                      AttackRecord& record);
  bool by_class_mass() const;
  ExchangeCounts sent_by_all();

  RunConfig config_;
  Method method_;
  Corpus corpus_;
  CorpusSamples train_samples_;
  CorpusSamples test_samples_;
  Partition partition_;
  RoundPlanner planner_;
  RunId run_id_;
  std::vector<bool> viewed_;   // per client: its merges are kept to be looked at
  std::vector<bool> hostile_;  // per client
  std::vector<Node> nodes_;
  std::vector<SampleSubset> samples_;  // of each client
  std::vector<Equipment> equipment_;   // of each node
  Node network_model_;
  InProcessNetwork exchanges_;
  ThreadPool threads_;
  std::vector<Workspace> workspaces_;  // one per thread
  std::size_t round_ = 0;
};

}  // namespace dfrost
