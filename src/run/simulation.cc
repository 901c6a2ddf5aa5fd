#include "run/simulation.h"

#include <algorithm>
#include <utility>

#include "base/stopwatch.h"
#include "dfrost/measure.h"
#include "dfrost/wasserstein.h"
#include "measure/evaluation.h"
#include "merge/merge_kinds.h"
#include "run/attack_tally.h"
#include "run/attackers.h"
#include "run/class_mass.h"
#include "run/federation_parts.h"
#include "run/pool_keys.h"
#include "run/round_tally.h"
#include "run/saved_nodes.h"
#include "run/server_phases.h"

namespace dfrost {
namespace {

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
                       const Preprocessing& preprocessing, Corpus corpus, const MakeWorkforce& make_workforce)
    : ground_(config, std::move(method), backbone, preprocessing, std::move(corpus)),
      config_(ground_.config),
      hostile_(attackers_of(config.attack, ground_.partition.clients.size(), config.run.seed)),
      workforce_(make_workforce(ground_)),
      network_model_(
          make_node(config, backbone.geometry(), ground_.corpus.classes(), 0, config.usual_prompts())) {}

RoundRecord Simulation::run_round(const RoundProgressCallback& progress) {
  RoundRecord record;
  if (round_ == 0) prepare(record, progress);
  ++round_;
  record.round = round_;
  const auto plan = ground_.plan_round(round_);
  tally_network(plan.network, record);
  tally_mixing(plan, record);
  auto done = workforce_->run_round(plan, progress);
  record_exchange(done, record);
  if (config_.privacy.kind != PrivacyKind::none)
    record.privacy = tally_privacy(clients(), config_.privacy.delta);
  const Stopwatch measuring;
  measure(record);
  if (config_.attack.is_on()) record_attack(done.outcome.nodes, record);
  record.seconds.measure += measuring.seconds();
  if (is_evaluated(config_, round_)) {
    const Stopwatch evaluating;
    evaluate_all(record, progress);
    if (config_.evaluate.membership > 0)
      record.membership = workforce_->workshop().attack_members(clients(), record.evaluation->clients);
    record.seconds.evaluate = evaluating.seconds();
  }
  return record;
}

// Counts as a part of the first round.
void Simulation::prepare(RoundRecord& record, const RoundProgressCallback& progress) {
  if (ground_.method.preparation.empty()) return;
  const auto done = workforce_->prepare(progress);
  record.seconds.train = done.outcome.work_seconds;
  record.seconds.exchange = done.outcome.send_seconds + done.outcome.absorb_seconds;
  record.sent_bytes = done.sent_bytes;
  record.sent_messages = done.sent_messages;
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

void Simulation::record_exchange(WorkDone& done, RoundRecord& record) {
  tally_round(done.outcome, record);
  record.sent_bytes += done.sent_bytes;
  record.sent_messages += done.sent_messages;
  if (config_.diagnostics.theory && traits_of(config_.merge.kind).has_theorem)
    record.theory = tally_theory(done.outcome.nodes);
  if (config_.merge.defends()) record.defence = tally_defence(done.outcome.nodes);
}

Node Simulation::model_of(const Node& client) const {
  return has_server() ? served_model(nodes().back(), client, config_.merge) : client;
}

// How far the clients are from what the server has, which is the network's model.
void Simulation::measure_around_server(RoundRecord& record) {
  const Node& server = nodes().back();
  std::vector<double> distances(clients().size());
  workforce_->threads().parallel_for(distances.size(), [&](std::size_t u, std::size_t) {
    distances[u] = wasserstein2_squared({nodes()[u].state.prompts()}, {server.state.prompts()}).w2_squared;
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
  return std::ranges::any_of(nodes().back().state.layout.parts(),
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
  if (model.prompts().empty()) {
    average_all_but_prompts(clients(), model);
    return measure_class_mass(record);
  }
  const auto consensus = consensus_error(
      prompts, {.prompts = model.prompts().rows(), .seed = config_.run.seed, .threads = threads()});
  record.consensus_error = consensus.error;
  record.consensus_error_total = consensus.total;
  record.consensus_error_gain = consensus.gain;
  record.consensus_error_floor = consensus.floor;
  std::ranges::copy(consensus.barycenter, model.prompts().data());
  average_all_but_prompts(clients(), model);
  measure_class_mass(record);
  if (model.layout.contains(kKeysPart)) average_keys_of(clients(), workforce_->threads(), model);
}

void Simulation::measure_class_mass(RoundRecord& record) {
  if (!by_class_mass()) return;
  average_class_rows(clients(), config_.merge.mass, network_model_);
  record.class_mass = tally_class_mass(clients());
}

bool Simulation::by_class_mass() const {
  return config_.merge.head == HeadMerge::class_mass && config_.method.cooperation == Cooperation::peers;
}

void Simulation::record_attack(std::span<const NodeReport> reports, RoundRecord& record) {
  record.attack = tally_attack(reports, hostile_);
  if (reports.empty()) return;
  record.attack->distance = distance_from_honest(
      clients(), hostile_,
      {.prompts = network_model_.state.prompts().rows(), .seed = config_.run.seed, .threads = threads()});
}

void Simulation::evaluate_all(RoundRecord& record, const RoundProgressCallback& progress) {
  const auto scoring = config_.scoring();
  const auto chosen = scored_clients(scoring, clients().size());
  const auto samples = scored_samples(scoring, corpus(), config_.run.seed);
  // The network model comes last; where all score alike, it is scored for all.
  const std::size_t first = scores_differ() ? 0 : chosen.size();
  const auto model_at = [&](std::size_t place) {
    const std::size_t i = first + place;
    return i < chosen.size() ? model_of(nodes()[chosen[i]]) : network_model_;
  };
  auto evaluations = workforce_->evaluate(chosen.size() + 1 - first, model_at, progress);
  evaluations.insert(evaluations.begin(), first, evaluations.back());
  record.evaluation = summarize_scores(corpus(), chosen, samples.size(), evaluations);
  if (!record.attack) return;
  record.attack->honest = honest_scores(chosen, hostile_, evaluations);
  if (config_.attack.kind == AttackKind::backdoor)
    record.attack->backdoor_success =
        workforce_->workshop().backdoor_success(clients(), honest_among(chosen, hostile_));
}

Participants Simulation::participants() const {
  Participants all{corpus(), partition(), {}, threads(), shares()};
  for (const auto& client : clients()) all.prompts.push_back(client.state.prompts().rows());
  all.hostile = hostile_;
  return all;
}

SavedNodes Simulation::state() const { return save_nodes(nodes(), config_.train.optimizer_state); }

void Simulation::restore(std::size_t round, const SavedNodes& state) {
  workforce_->restore(state);
  round_ = round;
  RoundRecord unused;
  measure(unused);  // the network model follows from the clients
}

}  // namespace dfrost
