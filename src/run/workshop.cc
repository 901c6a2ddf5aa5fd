#include "run/workshop.h"

#include <utility>

#include "measure/evaluation.h"
#include "run/attack_tally.h"
#include "run/federation_parts.h"
#include "run/membership_attack.h"
#include "run/poisoned_samples.h"
#include "run/progress_counter.h"

namespace dfrost {
namespace {

std::size_t share_of(std::size_t bytes, double share) {
  return static_cast<std::size_t>(static_cast<double>(bytes) * share);
}

}  // namespace

Workshop::Workshop(const Groundwork& ground, std::vector<Node>& residents, Options options)
    : ground_(ground),
      residents_(residents),
      options_(std::move(options)),
      train_samples_(ground.corpus, ground.corpus.train, ground.backbone, ground.preprocessing,
                     share_of(train_cache_bytes(ground.config), options_.cache_share),
                     share_of(feature_cache_bytes(ground.config), options_.cache_share)),
      test_samples_(ground.corpus, ground.corpus.test, ground.backbone, ground.preprocessing,
                    share_of(test_cache_bytes(ground.config), options_.cache_share),
                    share_of(feature_cache_bytes(ground.config), options_.cache_share)),
      threads_(options_.threads) {
  samples_.reserve(residents.size());  // equipment points to them
  for (const Node& node : residents) {
    const bool is_client = node.role == NodeRole::client;
    if (is_client) samples_.emplace_back(train_samples_, ground.partition.clients[node.id]);
    equipment_.push_back({is_client ? &samples_.back() : nullptr, &options_.exchange_of(node.id)});
  }
  workspaces_.reserve(threads_.size());
  for (std::size_t t = 0; t < threads_.size(); ++t) workspaces_.emplace_back(ground.backbone);
}

template <typename Run>
WorkDone Workshop::count_sent(const Run& run) {
  WorkDone done;
  const auto add_sent = [&](auto sign) {
    for (const auto& equipment : equipment_) {
      const auto counts = equipment.exchange->counts();
      done.sent_bytes += sign * counts.sent_bytes;
      done.sent_messages += sign * counts.sent_messages;
    }
  };
  add_sent(~std::uint64_t{0});  // −1: what was sent before does not count
  done.outcome = run(Residents{residents_, equipment_, threads_, workspaces_, options_.carry, letters_});
  add_sent(std::uint64_t{1});
  return done;
}

WorkDone Workshop::run_round(const RoundPlan& plan, const RoundProgressCallback& progress) {
  return count_sent([&](const Residents& residents) {
    return dfrost::run_round(ground_.method, plan, ground_.run_id, residents, no_patience, progress);
  });
}

WorkDone Workshop::prepare(const RoundProgressCallback& progress) {
  return count_sent([&](const Residents& residents) {
    return run_preparation(ground_.method, ground_.planner.plan_preparation(), ground_.run_id, residents,
                           no_patience, progress);
  });
}

std::vector<Evaluation> Workshop::evaluate(std::size_t models, const ModelAt& model_at,
                                           const RoundProgressCallback& progress) {
  const RunConfig& config = ground_.config;
  const auto samples = scored_samples(config.scoring(), ground_.corpus, config.run.seed);
  ProgressCounter counter(progress, "evaluate", models);
  std::vector<Evaluation> evaluations(models);
  threads_.parallel_for(models, [&](std::size_t i, std::size_t worker) {
    const Node model = model_at(i);
    evaluations[i] = dfrost::evaluate(model.adapter, model.state, test_samples_, samples,
                                      {config.train.mask, config.evaluate.batch}, workspaces_[worker]);
    counter.add();
  });
  return evaluations;
}

std::optional<double> Workshop::backdoor_success(std::span<const Node> clients,
                                                 std::span<const std::size_t> chosen) {
  const RunConfig& config = ground_.config;
  const auto samples = scored_samples(config.scoring(), ground_.corpus, config.run.seed);
  const MarkedPictures marked(test_samples_, ground_.backbone, config.attack.target,
                              MarkedPictures::Which::all);
  const auto others = pictures_of_others(test_samples_, marked, samples);
  if (others.empty() || chosen.empty()) return std::nullopt;
  std::vector<double> taken(chosen.size());
  threads_.parallel_for(chosen.size(), [&](std::size_t i, std::size_t worker) {
    const Node& model = clients[chosen[i]];
    const auto found = dfrost::evaluate(model.adapter, model.state, marked, others,
                                        {config.train.mask, config.evaluate.batch}, workspaces_[worker]);
    taken[i] = found.total().accuracy_masked();
  });
  return spread_of(taken).mean;
}

MembershipRecord Workshop::attack_members(std::span<const Node> clients,
                                          std::span<const std::size_t> chosen) {
  const RunConfig& config = ground_.config;
  std::vector<SampleSubset> samples;
  samples.reserve(clients.size());
  for (const Node& client : clients)
    samples.emplace_back(train_samples_, ground_.partition.clients[client.id]);
  return dfrost::attack_members(
      {config.scoring(), config.train.mask, config.run.seed, clients, samples, test_samples_}, chosen,
      threads_, workspaces_);
}

}  // namespace dfrost
