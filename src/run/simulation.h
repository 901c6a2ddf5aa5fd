// A whole federation, seen by one who sees all of it: a workforce takes the nodes through their rounds, here
// or on the ranks of a cluster, and what only an observer of all can know, consensus error, network model and
// scores, is measured beside the round, not in it. The state after a round is a function of the config and
// the data: not of threads or ranks, nor of stops between.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "config/config.h"
#include "dfrost/backbone.h"
#include "partition/partition.h"
#include "records/about.h"
#include "records/record.h"
#include "records/savepoint_file.h"
#include "run/groundwork.h"
#include "run/method.h"
#include "run/node.h"
#include "run/round.h"
#include "run/round_plan.h"
#include "run/workforce.h"

namespace dfrost {

class Simulation {
 public:
  // The backbone must outlive it.
  Simulation(const RunConfig& config, const Backbone& backbone, const Preprocessing& preprocessing,
             Corpus corpus);
  // The same by a method that no setting names, or by others than the threads of this process.
  Simulation(const RunConfig& config, Method method, const Backbone& backbone,
             const Preprocessing& preprocessing, Corpus corpus,
             const MakeWorkforce& make_workforce = make_local_workforce);

  // The next round. An exception leaves the simulation unusable.
  RoundRecord run_round(const RoundProgressCallback& progress = {});

  // What there is to record before the first round: nobody has trained or talked.
  RoundRecord score_untrained(const RoundProgressCallback& progress = {});

  std::size_t rounds_done() const { return round_; }
  // Clients, in their order; a server, where there is one, comes last.
  const std::vector<Node>& nodes() const { return workforce_->nodes(); }
  std::span<const Node> clients() const { return std::span(nodes()).first(partition().clients.size()); }
  const Method& method() const { return ground_.method; }
  const Corpus& corpus() const { return ground_.corpus; }
  const Partition& partition() const { return ground_.partition; }
  const Topology& topology() const { return ground_.planner.topology(); }
  std::size_t threads() const { return workforce_->threads().size(); }
  // What each process does, where there are several.
  std::vector<RankShare> shares() const { return workforce_->shares(); }
  std::vector<Workforce::Doubt> doubts() const { return workforce_->doubts(); }
  Participants participants() const;  // refers to this
  // What a client is scored by: its own state or, around a server, the server's with what the client keeps.
  Node model_of(const Node& client) const;
  // Barycenter prompts and mean head, or the server's, as of the last measurement.
  const Node& network_model() const { return network_model_; }

  SavedNodes state() const;
  // Throws (data_loss) when it is not the state of a federation such as this one.
  void restore(std::size_t round, const SavedNodes& state);

 private:
  void prepare(RoundRecord& record, const RoundProgressCallback& progress);
  void record_exchange(WorkDone& done, RoundRecord& record);
  void measure(RoundRecord& record);
  bool has_server() const { return nodes().size() > clients().size(); }
  void measure_around_server(RoundRecord& record);
  void measure_class_mass(RoundRecord& record);
  bool scores_differ() const;
  void evaluate_all(RoundRecord& record, const RoundProgressCallback& progress);
  void record_attack(std::span<const NodeReport> reports, RoundRecord& record);
  bool by_class_mass() const;

  Groundwork ground_;
  const RunConfig& config_;    // the groundwork's
  std::vector<bool> hostile_;  // per client
  std::unique_ptr<Workforce> workforce_;
  Node network_model_;
  std::size_t round_ = 0;
};

}  // namespace dfrost
