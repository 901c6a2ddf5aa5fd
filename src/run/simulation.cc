#include "run/simulation.h"

#include <algorithm>
#include <utility>

#include "base/stopwatch.h"
#include "config/settings_identity.h"
#include "dfrost/measure.h"
#include "dfrost/wasserstein.h"
#include "measure/evaluation.h"
#include "merge/merge_kinds.h"
#include "run/attack_tally.h"
#include "run/attackers.h"
#include "run/class_mass.h"
#include "run/federation_parts.h"
#include "run/mailbox_rules.h"
#include "run/poisoned_samples.h"
#include "run/pool_keys.h"
#include "run/progress_counter.h"
#include "run/round_tally.h"
#include "run/saved_nodes.h"
#include "run/server_phases.h"

namespace dfrost {
namespace {

// Clients, then a server where there is one.
std::vector<Node> make_nodes(const RunConfig& config, const Method& method, const RoundPlanner& planner,
                             const Geometry& geometry, std::size_t classes) {
  std::vector<Node> nodes;
  for (std::size_t u = 0; u < planner.nodes(); ++u) {
    const bool is_client = u < planner.clients();
    const auto prompts = config.prompts_of(is_client ? u : 0);
    nodes.push_back(make_node(config, geometry, classes, static_cast<ClientId>(u), prompts));
    nodes.back().role = is_client ? NodeRole::client : NodeRole::server;
    nodes.back().most_prompts *= method.prompt_growth;
  }
  return nodes;
}

// Every part but prompts and keys becomes the clients' mean, summed in double in the order of the clients.
void average_all_but_prompts(std::span<const Node> clients, ClientState& mean) {
  for (const auto& part : mean.layout.parts()) {
    if (part.name == kPromptPart || part.name == kKeysPart) continue;
    std::vector<double> sums(part.size, 0.0);
    for (const auto& client : clients) {
      const float* own = client.state.part(part.name).data();
      for (std::size_t i = 0; i < part.size; ++i) sums[i] += static_cast<double>(own[i]);
    }
    for (std::size_t i = 0; i < part.size; ++i)
      mean.values[part.offset + i] = static_cast<float>(sums[i] / static_cast<double>(clients.size()));
  }
}

// The keys of prompts that are the barycenter of the clients' prompts already.
void average_keys_of(std::span<const Node> clients, ThreadPool& threads, ClientState& mean) {
  std::vector<MatrixView<const float>> keys;
  for (const auto& client : clients) keys.push_back(client.state.part(kKeysPart));
  std::vector<Transport> transports(clients.size());
  threads.parallel_for(clients.size(), [&](std::size_t u, std::size_t) {
    transports[u] = wasserstein2_squared({clients[u].state.prompts()}, {std::as_const(mean).prompts()});
  });
  average_keys(keys, transports, mean.part(kKeysPart));
}

}  // namespace

Simulation::Simulation(const RunConfig& config, const Backbone& backbone, const Preprocessing& preprocessing,
                       Corpus corpus)
    : Simulation(config, make_method(config), backbone, preprocessing, std::move(corpus)) {}

Simulation::Simulation(const RunConfig& config, Method method, const Backbone& backbone,
                       const Preprocessing& preprocessing, Corpus corpus)
    : config_(config),
      method_(std::move(method)),
      corpus_(std::move(corpus)),
      train_samples_(corpus_, corpus_.train, backbone, preprocessing, train_cache_bytes(config)),
      test_samples_(corpus_, corpus_.test, backbone, preprocessing, test_cache_bytes(config)),
      partition_(partition_for(config, corpus_)),
      planner_(method_.network, partition_.clients.size(), config.run.seed),
      run_id_(run_id(config, backbone.precision())),
      viewed_(viewed_clients(partition_, corpus_, config.diagnostics.merge_views)),
      hostile_(attackers_of(config.attack, partition_.clients.size(), config.run.seed)),
      nodes_(make_nodes(config, method_, planner_, backbone.geometry(), corpus_.classes())),
      network_model_(make_node(config, backbone.geometry(), corpus_.classes(), 0, config.usual_prompts())),
      exchanges_(planner_.nodes(), mailbox_options(method_, planner_.rounds_ahead(), nodes_)),
      threads_(config.run.threads) {
  samples_.reserve(partition_.clients.size());  // equipment points to them
  for (const Node& node : nodes_) {
    const bool is_client = node.role == NodeRole::client;
    if (is_client) samples_.emplace_back(train_samples_, partition_.clients[node.id]);
    equipment_.push_back({is_client ? &samples_.back() : nullptr, &exchanges_.exchange_of(node.id)});
  }
  workspaces_.reserve(threads_.size());
  for (std::size_t t = 0; t < threads_.size(); ++t) workspaces_.emplace_back(backbone);
}

RoundPlan Simulation::plan_round() const {
  auto plan = planner_.plan(round_);
  if (is_evaluated(config_, round_)) plan.viewed = viewed_;
  return plan;
}

RoundRecord Simulation::run_round(const RoundProgressCallback& progress) {
  RoundRecord record;
  const ExchangeCounts before = sent_by_all();
  if (round_ == 0) prepare(record, progress);
  ++round_;
  record.round = round_;
  const auto plan = plan_round();
  tally_network(plan.network, record);
  tally_mixing(plan, record);
  auto outcome = dfrost::run_round(method_, plan, run_id_, {nodes_, equipment_, threads_, workspaces_},
                                   no_patience, progress);
  record_exchange(outcome, before, record);
  const Stopwatch measuring;
  measure(record);
  if (config_.attack.is_on()) record_attack(outcome.nodes, record);
  record.seconds.measure += measuring.seconds();
  if (is_evaluated(config_, round_)) {
    const Stopwatch evaluating;
    evaluate_all(record, progress);
    record.seconds.evaluate = evaluating.seconds();
  }
  return record;
}

// Counts as a part of the first round.
void Simulation::prepare(RoundRecord& record, const RoundProgressCallback& progress) {
  if (method_.preparation.empty()) return;
  const auto outcome = run_preparation(method_, planner_.plan_preparation(), run_id_,
                                       {nodes_, equipment_, threads_, workspaces_}, no_patience, progress);
  record.seconds.train = outcome.work_seconds;
  record.seconds.exchange = outcome.send_seconds + outcome.absorb_seconds;
}

RoundRecord Simulation::score_untrained(const RoundProgressCallback& progress) {
  RoundRecord record;
  const Stopwatch measuring;
  measure(record);
  if (config_.attack.is_on()) record_attack({}, record);
  record.seconds.measure = measuring.seconds();
  const Stopwatch evaluating;
  evaluate_all(record, progress);
  record.seconds.evaluate = evaluating.seconds();
  return record;
}

void Simulation::record_exchange(RoundOutcome& outcome, const ExchangeCounts& before, RoundRecord& record) {
  tally_round(outcome, record);
  const ExchangeCounts after = sent_by_all();
  record.sent_bytes = after.sent_bytes - before.sent_bytes;
  record.sent_messages = after.sent_messages - before.sent_messages;
  if (config_.diagnostics.theory && traits_of(config_.merge.kind).has_theorem)
    record.theory = tally_theory(outcome.nodes);
  if (config_.merge.defends()) record.defence = tally_defence(outcome.nodes);
}

ExchangeCounts Simulation::sent_by_all() {
  ExchangeCounts sum;
  for (const auto& equipment : equipment_) {
    const auto counts = equipment.exchange->counts();
    sum.sent_bytes += counts.sent_bytes;
    sum.sent_messages += counts.sent_messages;
  }
  return sum;
}

Node Simulation::model_of(const Node& client) const {
  return has_server() ? served_model(nodes_.back(), client, config_.merge) : client;
}

// How far the clients are from what the server has, which is the network's model.
void Simulation::measure_around_server(RoundRecord& record) {
  const Node& server = nodes_.back();
  std::vector<double> distances(clients().size());
  threads_.parallel_for(distances.size(), [&](std::size_t u, std::size_t) {
    distances[u] = wasserstein2_squared({nodes_[u].state.prompts()}, {server.state.prompts()}).w2_squared;
  });
  for (const double distance : distances) record.consensus_error_total += distance;
  record.consensus_error = record.consensus_error_total / static_cast<double>(distances.size());
  average_all_but_prompts(clients(), network_model_.state);
  network_model_ = model_of(network_model_);
  record.prompts_per_client = static_cast<double>(server.state.prompts().rows());
}

// Around a server from which everything comes, all clients are scored by the same model.
bool Simulation::scores_differ() const {
  if (!has_server()) return true;
  return std::ranges::any_of(nodes_.back().state.layout.parts(),
                             [&](const auto& part) { return !is_shared(part.name, config_.merge); });
}

void Simulation::measure(RoundRecord& record) {
  if (has_server()) return measure_around_server(record);
  std::vector<MatrixView<const float>> prompts;
  for (const auto& client : clients()) prompts.push_back(client.state.prompts());
  std::size_t held = 0;
  for (const auto& own : prompts) held += own.rows();
  record.prompts_per_client = static_cast<double>(held) / static_cast<double>(prompts.size());
  auto& model = network_model_.state;
  const auto consensus = consensus_error(
      prompts, {.prompts = model.prompts().rows(), .seed = config_.run.seed, .threads = threads_.size()});
  record.consensus_error = consensus.error;
  record.consensus_error_total = consensus.total;
  std::ranges::copy(consensus.barycenter, model.prompts().data());
  average_all_but_prompts(clients(), model);
  if (by_class_mass()) {
    average_class_rows(clients(), config_.merge.mass, network_model_);
    record.class_mass = tally_class_mass(clients());
  }
  if (model.layout.contains(kKeysPart)) average_keys_of(clients(), threads_, model);
}

bool Simulation::by_class_mass() const {
  return config_.merge.head == HeadMerge::class_mass && config_.method.cooperation == Cooperation::peers;
}

void Simulation::record_attack(std::span<const NodeReport> reports, RoundRecord& record) {
  record.attack = tally_attack(reports, hostile_);
  if (reports.empty()) return;
  record.attack->distance = distance_from_honest(clients(), hostile_,
                                                 {.prompts = network_model_.state.prompts().rows(),
                                                  .seed = config_.run.seed,
                                                  .threads = threads_.size()});
}

void Simulation::evaluate_all(RoundRecord& record, const RoundProgressCallback& progress) {
  const auto scoring = config_.scoring();
  const auto chosen = scored_clients(scoring, clients().size());
  const auto samples = scored_samples(scoring, corpus_, config_.run.seed);
  const std::size_t models = chosen.size() + 1;  // and the network model, last
  ProgressCounter counter(progress, "evaluate", models);
  std::vector<Evaluation> evaluations(models);
  threads_.parallel_for(models, [&](std::size_t i, std::size_t worker) {
    if (i < chosen.size() && !scores_differ()) return;
    const Node model = i < chosen.size() ? model_of(nodes_[chosen[i]]) : network_model_;
    evaluations[i] = evaluate(model.adapter, model.state, test_samples_, samples,
                              {config_.train.mask, config_.evaluate.batch}, workspaces_[worker]);
    counter.add();
  });
  if (!scores_differ()) std::fill_n(evaluations.begin(), chosen.size(), evaluations.back());
  record.evaluation = summarize_scores(corpus_, chosen, samples.size(), evaluations);
  if (!record.attack) return;
  record.attack->honest = honest_scores(chosen, hostile_, evaluations);
  if (config_.attack.kind == AttackKind::backdoor) score_backdoor(chosen, samples, *record.attack);
}

void Simulation::score_backdoor(std::span<const std::size_t> scored, std::span<const std::size_t> samples,
                                AttackRecord& record) {
  const MarkedPictures marked(test_samples_, workspaces_.front().backbone, config_.attack.target,
                              MarkedPictures::Which::all);
  const auto others = pictures_of_others(test_samples_, marked, samples);
  const auto honest = honest_among(scored, hostile_);
  if (others.empty() || honest.empty()) return;
  std::vector<double> taken(honest.size());
  threads_.parallel_for(honest.size(), [&](std::size_t i, std::size_t worker) {
    const Node& model = nodes_[honest[i]];
    const auto found = evaluate(model.adapter, model.state, marked, others,
                                {config_.train.mask, config_.evaluate.batch}, workspaces_[worker]);
    taken[i] = found.total().accuracy_masked();
  });
  record.backdoor_success = spread_of(taken).mean;
}

Participants Simulation::participants() const {
  Participants all{corpus_, partition_, {}, threads_.size()};
  for (const auto& client : clients()) all.prompts.push_back(client.state.prompts().rows());
  all.hostile = hostile_;
  return all;
}

SavedNodes Simulation::state() const { return save_nodes(nodes_, config_.train.optimizer_state); }

void Simulation::restore(std::size_t round, const SavedNodes& state) {
  restore_nodes(state, config_.train, nodes_);
  round_ = round;
  RoundRecord unused;
  measure(unused);  // the network model follows from the clients
}

}  // namespace dfrost
