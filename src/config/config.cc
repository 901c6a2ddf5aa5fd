// What settings are refused, and why.
#include "config/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "backbone/pixels.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "config/hostile_rules.h"
#include "config/key.h"
#include "config/privacy_check.h"
#include "dfrost/error.h"
#include "merge/merge_kinds.h"

namespace dfrost {
namespace {

[[noreturn]] void refuse(const std::string& key, const std::string& message, std::string hint = {}) {
  throw Error(ErrorCode::invalid_argument, message, std::move(hint)).at(key);
}

void check_name(const std::string& name) {
  const auto fits = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("._+-").find(c) != std::string_view::npos;
  };
  if (name.empty() || name.size() > 100 || name.front() == '.' || !std::ranges::all_of(name, fits)) {
    refuse("run.name", fmt::format("{} cannot name a folder", quote_name(name)),
           "use up to 100 letters, digits and . _ + -, without a dot in front");
  }
}

void check_domains(const DataSection& data) {
  std::vector<std::string> known;
  for (const auto& info : dataset_catalog()) known.push_back(info.name);
  for (const auto& domain : data.domains) {
    if (!domain.path.empty() || find_dataset_info(domain.name) != nullptr) continue;
    refuse("data.domains", fmt::format("there is no data set {}", quote_name(domain.name)),
           did_you_mean(domain.name, known,
                        "for pictures of your own give a table: {name = \"mine\", path = \"pictures\"}"));
  }
}

void check_partition_fits(const RunConfig& config) {
  const auto& partition = config.partition;
  if (partition.given || partition.kind == PartitionKind::file ||
      config.method.cooperation == Cooperation::central)
    return;
  for (const auto& domain : config.data.domains) {
    const std::size_t pictures = domain.train.value_or(config.data.train_per_domain);
    const std::size_t needed = partition.clients_per_domain * partition.min_per_client;
    if (pictures == 0 || needed <= pictures) continue;
    refuse("partition.min_per_client",
           fmt::format("{} has {} training pictures; {} clients with at least {} each need {}", domain.name,
                       pictures, partition.clients_per_domain, partition.min_per_client, needed),
           fmt::format("for a small trial set partition.min_per_client = {}, or use more pictures or fewer "
                       "clients",
                       std::max<std::size_t>(1, pictures / partition.clients_per_domain / 4)));
  }
}

// What a client with a number of its own chooses from the pool, beside what `usual` ones do.
void check_choice(const PromptOptions& own, const PromptOptions& usual) {
  if (own.pool != 0 && own.pool < own.count) {
    refuse("prompts.counts",
           fmt::format("{} prompts cannot be chosen from a pool of {}", own.count, own.pool));
  }
  if (own.selects() == usual.selects()) return;
  const auto [choosing, taking_all] = std::minmax(own.count, usual.count);
  refuse("prompts.counts",
         fmt::format("{} of {} prompts leave a choice and {} do not: only clients that choose have a "
                     "projection to exchange",
                     choosing, usual.held(), taking_all),
         "keep prompts.count and every number of prompts.counts below prompts.pool");
}

// What a pool that changes its size cannot be combined with.
void check_growing_pool(const RunConfig& config) {
  const auto kind = config.merge.pool.kind;
  if (config.method.round != RoundKind::update) {
    refuse(
        "merge.pool",
        fmt::format("a round of kind '{}' takes a step from the same prompts that it mixes, and '{}' leaves "
                    "others",
                    to_string(config.method.round), to_string(kind)),
        "use method.round 'update'");
  }
  if (config.prompts.keys == PoolKeys::separate) {
    refuse("prompts.keys", fmt::format("in a pool by '{}' a prompt is its own key", to_string(kind)),
           "use prompts.keys 'prompts'");
  }
  if (!config.prompts.counts.empty()) {
    refuse("prompts.counts", "pools that grow have no number of prompts of their own to be given",
           "leave prompts.counts empty");
  }
  if (kind == PoolMerge::pass_on && config.method.cooperation == Cooperation::server) {
    refuse("merge.pool", "prompts are passed on between neighbours, and clients of a server have none",
           "use method.cooperation 'peers', or merge.pool 'pfpt'");
  }
  if (config.merge.head == HeadMerge::class_mass) {
    refuse("merge.head",
           fmt::format("beside a pool by '{}' heads are averaged whole, not yet class by class",
                       to_string(kind)),
           "use merge.head 'average' or 'own', or merge.pool 'fixed'");
  }
  if (config.merge.pool.limit != 0 && config.merge.pool.limit < config.prompts.held()) {
    refuse("merge.pool_limit", fmt::format("a pool of {} prompts at most cannot begin with {}",
                                           config.merge.pool.limit, config.prompts.held()));
  }
}

// Heads alone: nothing to choose from, to count or to hand out.
void check_without_prompts(const RunConfig& config) {
  if (config.prompts.count != 0) return;
  if (!config.prompts.counts.empty())
    refuse("prompts.counts", "prompts.count = 0 says that nobody has prompts", "leave prompts.counts empty");
  if (config.pool_grows())
    refuse("prompts.count",
           fmt::format("a pool by '{}' is made of prompts", to_string(config.merge.pool.kind)),
           "use merge.pool 'fixed', or at least one prompt");
  if (config.method.cooperation == Cooperation::server)
    refuse("prompts.count", "a server merges prompts, not yet heads alone",
           "use method.cooperation 'peers', or at least one prompt");
}

void check_prompts_fit(const RunConfig& config) {
  const auto& prompts = config.prompts;
  prompts.validate();
  check_without_prompts(config);
  if (config.pool_grows()) return check_growing_pool(config);
  std::size_t least_held = prompts.held(), most_held = prompts.held();
  for (std::size_t u = 0; u < prompts.counts.size(); ++u) {
    check_choice(config.prompts_of(u), prompts);
    const std::size_t held = config.prompts_of(u).held();
    least_held = u == 0 ? held : std::min(least_held, held);
    most_held = u == 0 ? held : std::max(most_held, held);
  }
  const bool averages = config.method.exchanges() && traits_of(config.merge.kind).needs_equal_sizes;
  if (averages && least_held != most_held) {
    refuse(
        "prompts.counts",
        fmt::format("sets of {} and {} prompts cannot be averaged by index: prompt {} has no counterpart in "
                    "the smaller",
                    least_held, most_held, least_held + 1),
        "use merge.kind 'ot' or 'barycenter', or the same number everywhere");
  }
}

// A round of one gradient has no place for what shapes many steps.
void check_single_step(const RunConfig& config) {
  if (config.method.round == RoundKind::update || config.method.round == RoundKind::ntk) return;
  const auto& train = config.train;
  const auto require = [&](bool holds, const char* key) {
    if (holds) return;
    refuse(key,
           fmt::format("a round of kind '{}' takes one plain step along one gradient",
                       to_string(config.method.round)),
           fmt::format("leave {} at what method.name = \"{}\" sets", key, to_string(config.method.round)));
  };
  require(train.optimizer.kind == OptimizerKind::sgd, "train.optimizer");
  require(train.optimizer.momentum == 0, "train.momentum");
  require(train.optimizer.sam_radius == 0, "train.sam_radius");
  require(train.optimizer_state == OptimizerMemory::fresh, "train.optimizer_state");
  require(train.epochs == 1, "train.epochs");
  require(train.max_steps == 0, "train.max_steps");
}

// Clients of a server train what it hands out: a round is its own, and so is the number of prompts.
void check_server(const RunConfig& config) {
  if (config.method.cooperation != Cooperation::server) return;
  if (config.method.round != RoundKind::update) {
    refuse(
        "method.round",
        fmt::format("a round of kind '{}' mixes the states of neighbours, and clients of a server have none",
                    to_string(config.method.round)),
        "use method.round 'update', or method.cooperation 'peers'");
  }
  if (!config.prompts.counts.empty()) {
    refuse("prompts.counts", "all clients of a server hold the prompts that it hands out",
           "leave prompts.counts empty, or use method.cooperation 'peers'");
  }
  if (config.merge.head == HeadMerge::class_mass) {
    refuse("merge.head", "a server weighs heads by pictures, not yet by pictures of each class",
           "use merge.head 'average' or 'own', or method.cooperation 'peers'");
  }
  if (config.train.frame.coordinates != HeadCoordinates::raw && !config.takes_backbone_moments()) {
    refuse(
        "train.head_coordinates",
        fmt::format("'{}' needs moments that clients take before the first round, and those of a server "
                    "have none",
                    to_string(config.train.frame.coordinates)),
        "use train.head_moments 'backbone', or train.head_coordinates 'raw', or method.cooperation 'peers'");
  }
}

// What lies beside a backbone are moments of its features.
void check_moments(const RunConfig& config) {
  if (!config.takes_backbone_moments() || config.head.kind != HeadKind::pfpt) return;
  refuse("train.head_moments",
         "those of 'backbone' are of its features, and the head 'pfpt' reads the checkpoint's own logits",
         "use train.head_moments 'network' or 'own', or head.kind 'linear' or 'mlp'");
}

// What a step along the tangent kernel needs of the head, and how it is averaged.
void check_ntk(const RunConfig& config) {
  if (config.method.round != RoundKind::ntk) return;
  if (config.head.kind == HeadKind::pfpt)
    refuse("head.kind",
           "the kernel is that of a head of linear maps and ReLU, and 'pfpt' drops values between",
           "use head.kind 'linear' or 'mlp'");
  if (config.merge.head == HeadMerge::class_mass)
    refuse("merge.head", "a round of kind 'ntk' moves on from the mean of whole heads, all senders alike",
           "use merge.head 'average' or 'own'");
  if (config.train.frame.coordinates != HeadCoordinates::raw)
    refuse("train.head_coordinates", "the kernel is taken of features as they are",
           "use train.head_coordinates 'raw'");
  if (config.ntk.steps.empty() || !std::ranges::is_sorted(config.ntk.steps))
    refuse("ntk.steps", "numbers of steps to choose from are needed, the smallest first",
           "for example ntk.steps = [100, 200, 300]");
}

// What has no masses to weigh prompts by, or another weight already.
void check_sender_weights(const RunConfig& config) {
  if (config.merge.weights != SenderWeights::mass) return;
  if (config.method.cooperation == Cooperation::server)
    refuse("merge.weights", "a server is told how many pictures its clients have, and no masses",
           "use merge.weights 'mixing', which weighs by pictures around a server");
  if (config.pool_grows())
    refuse("merge.weights",
           fmt::format("a pool by '{}' takes prompts as they come, and weighs no senders",
                       to_string(config.merge.pool.kind)),
           "use merge.weights 'equal', or merge.pool 'fixed'");
  if (config.merge.head != HeadMerge::class_mass)
    refuse("merge.weights",
           fmt::format("'mass' weighs by the masses that travel with class rows, and with merge.head '{}' "
                       "there are none",
                       to_string(config.merge.head)),
           "use merge.head 'class-mass', or merge.weights 'mixing'");
  const auto& defence = config.merge.defence;
  const bool by_index = !config.merge.custom && !traits_of(config.merge.kind).transports;
  if (by_index && (defence.head_trim > 0 || defence.head_median > 0))
    refuse("merge.weights",
           "defence.head_trim and head_median take all that is averaged by index for one vector of one "
           "weight, and 'mass' weighs prompts in another way than heads",
           "use merge.weights 'mixing', or merge.kind 'ot' or 'barycenter'");
}

void check_metric(const RunConfig& config) {
  if (config.merge.metric == MergeMetric::embedding) return;
  const bool transports = !config.merge.custom && traits_of(config.merge.kind).transports;
  if (config.pool_grows() || !transports) {
    refuse("merge.metric",
           "distances of prompts have no say in how these are merged: nothing is transported by them",
           "use merge.kind 'ot' or 'barycenter', or merge.metric 'embedding'");
  }
  if (is_pixels(config.backbone.path))
    refuse("merge.metric", "the model 'pixels' has no first block whose keys and values could be compared",
           "use merge.metric 'embedding', or a vision transformer");
}

void check_merge(const MergeSection& merge) {
  try {
    merge.validate();
  } catch (const Error& error) {
    // The library names its own fields; here they are keys of a section.
    const bool defends = error.place() == "trim" || error.place() == "median";
    throw Error(error.code(), error.what(), error.hint())
        .at((defends ? "defence." : "merge.") + error.place());
  }
}

}  // namespace

void RunConfig::validate() const {
  for (const auto& key : config_keys()) {
    if (is_allowed(key, *this)) continue;
    refuse(key.full_name(), fmt::format("{} is not {}", toml_value(key, *this), describe_values(key.field)));
  }
  validate_data();
  check_name(run.name);
  if (backbone.path.empty()) refuse("backbone.path", "no checkpoint is named");
  train.validate();
  check_single_step(*this);
  check_server(*this);
  check_moments(*this);
  check_ntk(*this);
  check_prompts_fit(*this);
  check_merge(merge);
  check_sender_weights(*this);
  check_metric(*this);
  check_privacy(*this);
  check_hostile(*this);
  if (const auto known = clients()) validate_network(*known);
}

void RunConfig::validate_data() const {
  corpus().validate();
  check_domains(data);
  partition.validate();
  check_partition_fits(*this);
}

void RunConfig::validate_network(std::size_t clients_in_all) const {
  if (method.cooperation == Cooperation::peers) network.topology.validate(clients_in_all);
  if (method.exchanges()) network.faults.validate(clients_in_all);
}

}  // namespace dfrost
