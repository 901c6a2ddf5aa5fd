#include "cluster/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "backbone/weights_fingerprint.h"
#include "base/stopwatch.h"
#include "cluster/hello.h"
#include "cluster/orders.h"
#include "cluster/placement.h"
#include "cluster/rank_workshop.h"
#include "dfrost/error.h"
#include "run/backbone_frame.h"
#include "run/opening.h"
#include "run/saved_nodes.h"

namespace dfrost {
namespace {

// A rank that follows opens what rank 0 opens, and rank 0 has said all there is to say about it.
class Silence final : public RunNotes {
 public:
  void on_note(const std::string&) override {}
  void on_warning(const std::string&, const std::string&) override {}
};

std::vector<Node> pick(const std::vector<Node>& all, const std::vector<ClientId>& which) {
  std::vector<Node> picked;
  picked.reserve(which.size());
  for (const ClientId node : which) picked.push_back(all[node]);
  return picked;
}

}  // namespace

// The workforce that rank 0's observer has: itself and all other ranks.
class Cluster::Leader final : public Workforce {
 public:
  Leader(Cluster& cluster, const Groundwork& ground)
      : cluster_(cluster), ranks_(cluster.ranks_), ground_(ground), own_(ground, ranks_, cluster.places_) {
    for (std::size_t u = 0; u < ground.planner.nodes(); ++u)
      nodes_.push_back(ground.first_node(static_cast<ClientId>(u)));
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) homes_.push_back(own_.nodes_at(rank));
  }
  ~Leader() override { cluster_.dismiss(); }
  Leader(const Leader&) = delete;
  Leader& operator=(const Leader&) = delete;

  const std::vector<Node>& nodes() const override { return nodes_; }

  void restore(const SavedNodes& saved) override {
    restore_nodes(saved, ground_.config.train, nodes_);
    own_.residents() = pick(nodes_, homes_[0]);
    for (std::size_t rank = 1; rank < ranks_.size(); ++rank)
      order(rank, {.kind = OrderKind::restore,
                   .nodes = save_nodes(pick(nodes_, homes_[rank]), ground_.config.train.optimizer_state)});
  }

  WorkDone run_round(const RoundPlan& plan, const RoundProgressCallback& progress) override {
    return together({.kind = OrderKind::round, .round = plan.round},
                    [&] { return own_.run_round(plan, progress); });
  }
  WorkDone prepare(const RoundProgressCallback& progress) override {
    return together({.kind = OrderKind::prepare}, [&] { return own_.prepare(progress); });
  }

  std::vector<Evaluation> evaluate(std::size_t models, const ModelAt& model_at,
                                   const RoundProgressCallback& progress) override;

  Workshop& workshop() override { return own_.workshop(); }
  std::vector<RankShare> shares() const override { return own_.shares(); }
  std::vector<Doubt> doubts() const override {
    auto all = doubts_about(cluster_.places_, own_.threads());
    all.insert(all.end(), cluster_.unshared_.begin(), cluster_.unshared_.end());
    return all;
  }

 private:
  void order(std::size_t rank, Order what) { ranks_.send(rank, pack(what)); }

  template <typename Own>
  WorkDone together(const Order& what, const Own& own);
  void take_over(std::size_t rank, const SavedNodes& saved);

  Cluster& cluster_;
  Communicator& ranks_;
  const Groundwork& ground_;
  RankWorkshop own_;
  std::vector<Node> nodes_;                   // all, as of the last round
  std::vector<std::vector<ClientId>> homes_;  // the nodes of each rank
};

// All ranks at once; then what each has to tell, put in the order of the nodes, in which all sums run.
template <typename Own>
WorkDone Cluster::Leader::together(const Order& what, const Own& own) {
  const Stopwatch wall;
  cluster_.busy_ = true;
  for (std::size_t rank = 1; rank < ranks_.size(); ++rank) order(rank, what);
  WorkDone all;
  all.outcome.nodes.resize(nodes_.size());
  const auto add = [&](std::size_t rank, WorkDone& done) {
    all.sent_bytes += done.sent_bytes;
    all.sent_messages += done.sent_messages;
    auto& seconds = all.outcome;
    seconds.work_seconds = std::max(seconds.work_seconds, done.outcome.work_seconds);
    seconds.absorb_seconds = std::max(seconds.absorb_seconds, done.outcome.absorb_seconds);
    for (std::size_t i = 0; i < homes_[rank].size(); ++i)
      all.outcome.nodes[homes_[rank][i]] = std::move(done.outcome.nodes[i]);
  };
  WorkDone here = own();
  add(0, here);
  for (std::size_t i = 0; i < homes_[0].size(); ++i) nodes_[homes_[0][i]] = own_.residents()[i];
  for (std::size_t rank = 1; rank < ranks_.size(); ++rank) {
    auto answer = unpack<RoundAnswer>(ranks_.receive(rank));
    add(rank, answer.done);
    take_over(rank, answer.nodes);
  }
  cluster_.busy_ = false;
  // What is neither the work of the slowest rank nor its merges: letters, waiting for them, and gathering.
  all.outcome.send_seconds =
      std::max(0.0, wall.seconds() - all.outcome.work_seconds - all.outcome.absorb_seconds);
  return all;
}

void Cluster::Leader::take_over(std::size_t rank, const SavedNodes& saved) {
  auto theirs = pick(nodes_, homes_[rank]);
  restore_nodes(saved, ground_.config.train, theirs);
  for (std::size_t i = 0; i < theirs.size(); ++i) nodes_[homes_[rank][i]] = std::move(theirs[i]);
}

// Each model takes as long as any other, and no rank needs to have lived with it.
std::vector<Evaluation> Cluster::Leader::evaluate(std::size_t models, const ModelAt& model_at,
                                                  const RoundProgressCallback& progress) {
  const auto by = place_nodes(std::vector<std::uint64_t>(models, 1), own_.threads());
  std::vector<std::vector<std::size_t>> places(ranks_.size());
  for (std::size_t i = 0; i < models; ++i) places[by[i]].push_back(i);
  cluster_.busy_ = true;
  for (std::size_t rank = 1; rank < ranks_.size(); ++rank) {
    Order score{.kind = OrderKind::score};
    for (const std::size_t i : places[rank]) score.models.push_back(scored_model(model_at(i)));
    order(rank, std::move(score));
  }
  std::vector<Evaluation> all(models);
  const auto add = [&](std::size_t rank, std::vector<Evaluation> some) {
    for (std::size_t i = 0; i < some.size(); ++i) all[places[rank][i]] = std::move(some[i]);
  };
  add(0, own_.workshop().evaluate(
             places[0].size(), [&](std::size_t i) { return model_at(places[0][i]); }, progress));
  for (std::size_t rank = 1; rank < ranks_.size(); ++rank)
    add(rank, unpack<std::vector<Evaluation>>(ranks_.receive(rank)));
  cluster_.busy_ = false;
  return all;
}

Cluster::Cluster(Communicator& ranks) : ranks_(ranks), places_(gather_places(ranks)), model_(ranks) {}

Cluster::~Cluster() {
  if (leads()) dismiss();
}

// Who waits in the middle of a round cannot be sent home.
void Cluster::dismiss() {
  if (dismissed_ || busy_) return;
  dismissed_ = true;
  model_.give_up();
  Order end{.kind = OrderKind::end};
  for (std::size_t rank = 1; rank < ranks_.size(); ++rank) {
    if (!greeted_) ranks_.receive(rank);
    ranks_.send(rank, pack(end));
  }
}

std::unique_ptr<Workforce> Cluster::gather(const Groundwork& ground, const std::string& weights) {
  const Hello own = hello_of(ground, weights);
  std::vector<Hello> others;
  for (std::size_t rank = 1; rank < ranks_.size(); ++rank)
    others.push_back(unpack<Hello>(ranks_.receive(rank)));
  greeted_ = true;
  for (std::size_t rank = 1; rank < ranks_.size(); ++rank) {
    const Hello& hello = others[rank - 1];
    const std::string who = fmt::format("rank {} on {}", rank, places_[rank].host);
    if (hello.failure)
      throw Error(
          ErrorCode::failed_precondition, fmt::format("{} cannot start: {}", who, *hello.failure),
          "every rank reads the config, the backbone and the pictures itself: they must lie where the "
          "config says on each host");
    if (const auto difference = first_difference(own, hello))
      throw Error(ErrorCode::failed_precondition,
                  fmt::format("{} has read something else: {}", who, *difference),
                  "give all ranks the same dfrost, config, backbone and pictures");
    if (!hello.why_own_model.empty() && unshared_.empty())
      unshared_.push_back({fmt::format("{} has a model of its own in memory: {}", who, hello.why_own_model),
                           "ranks of one host share it where they may look into each other's /proc; one "
                           "rank per host with more threads takes as little"});
  }
  return std::make_unique<Leader>(*this, ground);
}

void Cluster::follow(const std::function<RunConfig()>& load) {
  try {
    const RunConfig config = load();
    config.validate();
    follow_orders(config);
  } catch (const Error& error) {
    if (greeted_) throw;  // rank 0 counts on us
    model_.give_up();
    Hello sorry{.failure = error.place().empty() ? error.what()
                                                 : fmt::format("{} ({})", error.what(), error.place())};
    ranks_.send(0, pack(sorry));
    ranks_.receive(0);  // it can only send us home
  }
}

void Cluster::follow_orders(const RunConfig& config) {
  Silence silence;
  const auto source = open_backbone(config.backbone, silence);
  auto corpus = open_pictures(config, silence);
  const auto weights = weights_fingerprint(*source);
  const auto backbone = make_model(*source, {.precision = config.backbone.precision}, weights);
  const Groundwork ground(
      config,
      make_method(config, NoiseOrigin::seed, backbone_frame(config, config.backbone.path, *source, weights),
                  backbone_metric(config, *source)),
      *backbone, source->preprocessing(), std::move(corpus));
  Hello hello = hello_of(ground, weights);
  hello.why_own_model = model_.why_own();
  RankWorkshop own(ground, ranks_, places_);
  ranks_.send(0, pack(hello));
  greeted_ = true;
  const auto answer_with = [&](WorkDone done) {
    RoundAnswer answer{std::move(done), save_nodes(own.residents(), config.train.optimizer_state)};
    ranks_.send(0, pack(answer));
  };
  for (;;) {
    const auto order = unpack<Order>(ranks_.receive(0));
    switch (order.kind) {
      case OrderKind::end: return;
      case OrderKind::restore: restore_nodes(order.nodes, config.train, own.residents()); break;
      case OrderKind::prepare: answer_with(own.prepare({})); break;
      case OrderKind::round: answer_with(own.run_round(ground.plan_round(order.round), {})); break;
      case OrderKind::score: {
        auto scores = own.workshop().evaluate(order.models.size(),
                                              [&](std::size_t i) { return node_of(order.models[i]); }, {});
        ranks_.send(0, pack(scores));
        break;
      }
    }
  }
}

}  // namespace dfrost
