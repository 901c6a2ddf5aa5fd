#include "peer/site_node.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/stopwatch.h"
#include "dfrost/error.h"
#include "merge/merge_kinds.h"
#include "run/attackers.h"
#include "run/federation_parts.h"
#include "run/moments_phase.h"
#include "run/phase.h"
#include "run/private_round.h"
#include "run/round_tally.h"
#include "run/saved_nodes.h"

namespace dfrost {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// Where a node stands in its preparation, in its memory as long as that is not done.
constexpr std::string_view kPreparedPhases = "preparation.phases";

// Only who sees all nodes could say.
void forget_what_only_observers_know(RoundRecord& record) {
  record.consensus_error = record.consensus_error_total = kUnknown;
  record.consensus_error_gain = record.consensus_error_floor = kUnknown;
}

}  // namespace

SiteNode::SiteNode(const RunConfig& config, const Method& method, const Backbone& backbone,
                   const Preprocessing& preprocessing, const SitePictures& pictures, ClientId self,
                   const std::function<void()>& on_picture)
    : config_(config),
      method_(method),
      pictures_(pictures),
      node_(make_node(config, backbone.geometry(), pictures.corpus.classes(), self, config.prompts_of(self))),
      train_pool_(pictures.corpus, pictures.corpus.train, backbone, preprocessing, train_cache_bytes(config)),
      test_pool_(pictures.corpus, pictures.corpus.test, backbone, preprocessing, test_cache_bytes(config)),
      share_(train_pool_, pictures.partition.clients[self]),
      train_(share_, on_picture),
      test_(test_pool_, on_picture),
      threads_(config.run.threads) {
  node_.most_prompts *= method.prompt_growth;
  if (method.frame) give_frame(*method.frame, node_);
  workspaces_.reserve(threads_.size());
  for (std::size_t t = 0; t < threads_.size(); ++t) workspaces_.emplace_back(backbone);
}

RoundArrivals SiteNode::prepare(const RoundPlan& plan, const RunId& run, Exchange& exchange,
                                const RoundProgressCallback& progress) {
  const ExchangeCounts before = exchange.counts();
  const std::array equipment = {Equipment{&train_, &exchange}};
  auto phase = run_preparation_phase(method_, prepared_, plan, run,
                                     {{&node_, 1}, equipment, threads_, workspaces_}, no_patience, progress);
  const ExchangeCounts after = exchange.counts();
  costs_.seconds.train += phase.work_seconds;
  costs_.seconds.exchange += phase.send_seconds + phase.absorb_seconds;
  costs_.sent_bytes += after.sent_bytes - before.sent_bytes;
  costs_.sent_messages += after.sent_messages - before.sent_messages;
  RoundArrivals arrivals{.first_phase = prepared_, .phases = std::move(phase.nodes.front().arrivals)};
  ++prepared_;
  node_.memory.erase(std::string(kPreparedPhases));
  if (prepared_ < method_.preparation.size())
    node_.memory[std::string(kPreparedPhases)] = {{1}, {static_cast<float>(prepared_)}};
  return arrivals;
}

SiteNode::Outcome SiteNode::run_round(const RoundPlan& plan, const RunId& run, Exchange& exchange,
                                      const RoundProgressCallback& progress) {
  Outcome outcome;
  RoundRecord& record = outcome.record;
  record.round = outcome.arrivals.round = plan.round;
  tally_network(plan.network, record);
  tally_mixing(plan, record);
  forget_what_only_observers_know(record);
  outcome.arrivals.absent = !plan.is_active(node_.id);
  const ExchangeCounts before = exchange.counts();
  const std::array equipment = {Equipment{&train_, &exchange}};
  auto round = dfrost::run_round(method_, plan, run, {{&node_, 1}, equipment, threads_, workspaces_},
                                 no_patience, progress);
  outcome.arrivals.phases = std::move(round.nodes.front().arrivals);
  outcome.merged = round.nodes.front().merge.merged;
  tally_round(round, record);
  record.prompts_per_client = static_cast<double>(node_.state.prompts().rows());
  const ExchangeCounts after = exchange.counts();
  record.sent_bytes = after.sent_bytes - before.sent_bytes + costs_.sent_bytes;
  record.sent_messages = after.sent_messages - before.sent_messages + costs_.sent_messages;
  record.seconds += costs_.seconds;
  costs_ = {};
  if (config_.diagnostics.theory && traits_of(config_.merge.kind).has_theorem)
    record.theory = tally_theory(round.nodes);
  if (config_.privacy.kind != PrivacyKind::none)
    record.privacy = tally_privacy(std::span(&node_, 1), config_.privacy.delta);
  if (config_.merge.defends()) record.defence = tally_defence(round.nodes);
  return outcome;
}

std::optional<EvaluationRecord> SiteNode::evaluate() {
  const auto samples = scored_samples(config_.scoring(), pictures_.corpus, config_.run.seed);
  if (samples.empty()) return std::nullopt;
  const std::array scores = {dfrost::evaluate(node_.adapter, node_.state, test_, samples,
                                              {config_.train.mask, config_.evaluate.batch},
                                              workspaces_.front(), &threads_)};
  auto record = summarize_scores(pictures_.corpus, {node_.id}, samples.size(), scores);
  // Of a domain without test pictures nothing is known; it would look like no accuracy at all.
  std::erase_if(record.domains, [&](const DomainAccuracy& accuracy) {
    const auto domain = std::ranges::find(pictures_.corpus.domains, accuracy.name, &Domain::name);
    return domain != pictures_.corpus.domains.end() && domain->test_count == 0;
  });
  return record;
}

void take_over(const Message& letter, Node& node) {
  for (const auto& part : node.state.layout.parts()) {
    const auto found = letter.tensors.find(part.name);
    if (found == letter.tensors.end()) continue;
    const auto& theirs = found->second.values;
    std::copy_n(theirs.begin(), std::min(theirs.size(), part.size),
                node.state.values.begin() + static_cast<std::ptrdiff_t>(part.offset));
  }
}

std::optional<ClientId> SiteNode::adopt(const RoundPlan& plan, const RunId& run, Exchange& exchange) {
  const Phase& phase = *method_.phases.front();
  const Moment moment{plan.round, 0};
  exchange.begin(moment);
  if (!plan.is_active(node_.id)) return std::nullopt;
  const auto inbox = receive_letters(node_, phase, plan, {run, node_.id, moment, phase.kind()},
                                     Exchange::kNoWaiting, exchange);
  if (inbox.messages.empty()) return std::nullopt;
  take_over(inbox.messages.front(), node_);
  return inbox.messages.front().sender();
}

void SiteNode::charge_repeated_round() {
  if (config_.privacy.kind == PrivacyKind::none) return;
  const PrivateRounds privacy{config_.privacy, NoiseOrigin::system, config_.run.rounds};
  charge(steps_of_round(privacy, config_.train, train_.size(), node_), node_);
}

Participants SiteNode::participants() const {
  Participants all{pictures_.corpus, pictures_.partition, {}, threads_.size()};
  for (std::size_t u = 0; u < pictures_.partition.clients.size(); ++u)
    all.prompts.push_back(config_.prompts_of(u).held());
  all.hostile = attackers_of(config_.attack, all.prompts.size(), config_.run.seed);
  return all;
}

SavedNodes SiteNode::state() const { return save_nodes(std::span(&node_, 1), config_.train.optimizer_state); }

void SiteNode::restore(const SavedNodes& state) {
  restore_nodes(state, config_.train, std::span(&node_, 1));
  const auto under_way = node_.memory.find(kPreparedPhases);
  prepared_ = method_.preparation.size();
  if (under_way == node_.memory.end()) return;
  const double phases = under_way->second.values.empty() ? 0 : under_way->second.values.front();
  if (!(phases >= 1 && phases < static_cast<double>(prepared_)))
    throw Error(ErrorCode::data_loss, "the checkpoint is of another preparation than the method has");
  prepared_ = static_cast<std::size_t>(phases);
}

}  // namespace dfrost
