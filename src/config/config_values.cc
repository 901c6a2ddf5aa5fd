// The words of settings, and what follows from them: how many clients, which options a stage gets, how much
// work.
#include "config/config.h"

#include <algorithm>
#include <cmath>

namespace dfrost {
namespace {

// Pictures that a round trains on, each as often as it is seen; nothing where the settings do not say.
std::optional<double> trained_in_a_round(const RunConfig& config) {
  double pictures = 0;
  for (const auto& domain : config.data.domains) {
    const std::size_t size = domain.train.value_or(config.data.train_per_domain);
    if (size == 0) return std::nullopt;
    pictures += static_cast<double>(size);
  }
  const auto& train = config.train;
  double seen = pictures * static_cast<double>(train.epochs);
  if (train.max_steps != 0) {
    const std::size_t steps = config.clients().value_or(1) * train.max_steps;
    seen = std::min(seen, static_cast<double>(steps * train.batch));
  }
  return train.optimizer.sam_radius > 0 ? 2 * seen : seen;
}

// A picture trained on goes forward and back, which costs as much as two that are scored.
constexpr double kScoredPerTrained = 2;

// The same as work: of the epochs in which prompts rest only the first takes a picture forward, and only once
// in the whole run where they never move.
std::optional<double> passes_in_a_round(const RunConfig& config) {
  const auto trained = trained_in_a_round(config);
  if (!trained || config.method.round != RoundKind::update) return trained;
  const auto epochs = static_cast<double>(config.train.epochs);
  const double moving =
      config.prompts.held() == 0 ? 0 : std::min(static_cast<double>(config.train.prompt_epochs), epochs);
  if (moving == epochs) return trained;
  const bool always_at_rest = moving == 0 && config.run.rounds > 0;
  const double forward_again = always_at_rest ? 1 / static_cast<double>(config.run.rounds) : 1;
  const double of_an_epoch = *trained / epochs / (config.train.optimizer.sam_radius > 0 ? 2 : 1);
  return moving / epochs * *trained + forward_again * of_an_epoch / kScoredPerTrained;
}

// Test pictures of each domain that [evaluate] may take of a run's work; nothing: as many as there are.
std::optional<std::size_t> most_scored_samples(const RunConfig& config) {
  const auto& evaluate = config.evaluate;
  const auto trained = trained_in_a_round(config);
  const auto clients = config.clients();
  if (evaluate.share >= 1 || !trained || !clients || config.run.rounds == 0) return std::nullopt;
  const auto rounds = static_cast<double>(config.run.rounds);
  const double work = kScoredPerTrained * rounds * *trained * evaluate.share / (1 - evaluate.share);
  const double scorings = evaluate.every == 0 ? 1 : std::ceil(rounds / static_cast<double>(evaluate.every));
  const std::size_t scored = evaluate.clients == 0 ? *clients : std::min(evaluate.clients, *clients);
  const auto models = static_cast<double>(scored + 1);  // and the network model
  const double samples = work / (scorings * models * static_cast<double>(config.data.domains.size()));
  return std::max(kLeastScoredSamples, static_cast<std::size_t>(std::min(samples, 1e9)));
}

}  // namespace

std::string_view to_string(Cooperation cooperation) {
  switch (cooperation) {
    case Cooperation::peers: return "peers";
    case Cooperation::none: return "none";
    case Cooperation::central: return "central";
    case Cooperation::server: return "server";
  }
  return "unknown";
}

std::string_view to_string(RoundKind kind) {
  switch (kind) {
    case RoundKind::update: return "update";
    case RoundKind::dgd: return "dgd";
    case RoundKind::d2: return "d2";
    case RoundKind::ntk: return "ntk";
  }
  return "unknown";
}

std::string_view to_string(NtkPrompts prompts) {
  return prompts == NtkPrompts::frozen ? "frozen" : "trained";
}

std::string_view to_string(SenderWeights weights) {
  switch (weights) {
    case SenderWeights::equal: return "equal";
    case SenderWeights::mixing: return "mixing";
    case SenderWeights::mass: return "mass";
  }
  return "unknown";
}

std::string_view to_string(PoolMerge merge) {
  switch (merge) {
    case PoolMerge::fixed: return "fixed";
    case PoolMerge::pfpt: return "pfpt";
    case PoolMerge::pass_on: return "pass-on";
  }
  return "unknown";
}

std::string_view to_string(PoolOverflow overflow) {
  return overflow == PoolOverflow::drop ? "drop" : "error";
}

std::string_view to_string(HeadMerge merge) {
  switch (merge) {
    case HeadMerge::average: return "average";
    case HeadMerge::own: return "own";
    case HeadMerge::class_mass: return "class-mass";
  }
  return "unknown";
}

std::optional<std::size_t> RunConfig::clients() const {
  if (method.cooperation == Cooperation::central) return 1;
  if (partition.given) return partition.given->clients.size();
  if (partition.kind == PartitionKind::file) return std::nullopt;
  return data.domains.size() * partition.clients_per_domain;
}

PromptOptions RunConfig::usual_prompts() const {
  PromptOptions usual = prompts;
  usual.grows = pool_grows();
  return usual;
}

PromptOptions RunConfig::prompts_of(std::size_t client) const {
  PromptOptions own = usual_prompts();
  if (!prompts.counts.empty()) own.count = prompts.counts[client % prompts.counts.size()];
  return own;
}

std::size_t RunConfig::most_prompts() const {
  std::size_t most = prompts.counts.empty() ? prompts.held() : 0;
  for (std::size_t u = 0; u < prompts.counts.size(); ++u) most = std::max(most, prompts_of(u).held());
  return most;
}

ScoringOptions RunConfig::scoring() const {
  ScoringOptions limited = evaluate;
  const auto most = most_scored_samples(*this);
  if (!most) return limited;
  std::size_t largest = 0;  // of the domains' test sets; 0: not known
  for (const auto& domain : data.domains) {
    const std::size_t size = domain.test.value_or(data.test_per_domain);
    if (size == 0) {
      largest = 0;
      break;
    }
    largest = std::max(largest, size);
  }
  const bool fits = evaluate.samples != 0 ? evaluate.samples <= *most : largest != 0 && largest <= *most;
  if (!fits) limited.samples = *most;
  return limited;
}

std::optional<double> RunConfig::work() const {
  const auto trained = passes_in_a_round(*this);
  const auto count = clients();
  if (!trained || !count) return std::nullopt;
  const auto scored = scoring();
  double samples = 0;
  for (const auto& domain : data.domains) {
    const std::size_t size = domain.test.value_or(data.test_per_domain);
    samples += static_cast<double>(scored.samples == 0 ? size : std::min(size, scored.samples));
  }
  const auto rounds = static_cast<double>(run.rounds);
  const double scorings = scored.every == 0 ? 1 : std::ceil(rounds / static_cast<double>(scored.every));
  const std::size_t models = (scored.clients == 0 ? *count : std::min(scored.clients, *count)) + 1;
  const double active =
      network.faults.active_clients == 0
          ? 1
          : static_cast<double>(network.faults.active_clients) / static_cast<double>(*count);
  return rounds * *trained * active + scorings * static_cast<double>(models) * samples / kScoredPerTrained;
}

CheckpointOptions BackboneSection::checkpoint_options() const {
  CheckpointOptions options;
  if (image_size != 0) options.image_size = image_size;
  if (heads != 0) options.heads = heads;
  if (!preprocessing.empty()) options.preprocessing = preprocessing;
  return options;
}

CorpusOptions RunConfig::corpus() const {
  CorpusOptions options;
  options.domains = data.domains;
  options.root = data.root.empty() ? default_data_root() : data.root;
  options.train_per_domain = data.train_per_domain;
  options.test_per_domain = data.test_per_domain;
  options.allow_fewer = data.allow_fewer;
  options.exif = data.exif;
  options.seed = run.seed;
  options.given = data.given;
  return options;
}

}  // namespace dfrost
