#include "run/method.h"

#include <utility>

#include "dfrost/error.h"
#include "run/attack_phase.h"
#include "run/gradient_phases.h"
#include "run/moments_phase.h"
#include "run/ntk_phases.h"
#include "run/pool_phase.h"
#include "run/server_phases.h"
#include "run/update_phase.h"

namespace dfrost {
namespace {

template <typename Step>
std::unique_ptr<const Phase> gradient_phase(const RunConfig& config) {
  const GradientOptions gradient{.images = config.method.gradient,
                                 .batch = config.train.batch,
                                 .mask = config.train.mask,
                                 .prompt_rate = config.train.prompt_rate,
                                 .prompts_rest = config.train.prompt_epochs == 0};
  return std::make_unique<Step>(gradient, config.train.optimizer.learning_rate, config.merge,
                                config.run.seed);
}

// A worker's features at rest may take a part of what is given to keeping patches.
TrainOptions with_memory(const RunConfig& config) {
  TrainOptions train = config.train;
  train.rest_bytes = (config.data.cache_mb << 20) / 16;
  return train;
}

void add_d2(const RunConfig& config, Method& method) {
  method.phases.push_back(gradient_phase<D2Phase>(config));
  if (method.network.gathering == Gathering::nobody) return;
  method.network.least_eigenvalue = D2Phase::kLeastEigenvalue;
  method.notes.emplace_back(
      "d2 takes (I + W)/2 for the mixing matrix W in rounds in which W has an eigenvalue of -1/3 or less");
  if (!config.network.topology.is_static && config.network.topology.kind != TopologyKind::full)
    method.notes.emplace_back(
        "d2 is made for a graph that stays the same, and this one is drawn anew each round: network.static = "
        "true "
        "keeps it");
}

void add_update(const RunConfig& config, const PrivateRounds& privacy, Method& method) {
  const auto train = with_memory(config);
  if (config.pool_grows())
    method.phases.push_back(std::make_unique<PoolPhase>(train, config.merge, config.run.seed));
  else
    method.phases.push_back(std::make_unique<UpdatePhase>(train, config.merge, config.run.seed, privacy));
}

void add_ntk(const RunConfig& config, Method& method) {
  method.phases.push_back(std::make_unique<NtkAveragePhase>(with_memory(config), config.merge,
                                                            config.ntk.prompts, config.run.seed));
  method.phases.push_back(std::make_unique<NtkAskPhase>());
  method.phases.push_back(
      std::make_unique<NtkAnswerPhase>(config.ntk, config.train.mask, config.train.batch, config.run.seed));
}

void add_server(const RunConfig& config, const PrivateRounds& privacy, Method& method) {
  method.phases.push_back(std::make_unique<HandOutPhase>(config.merge));
  method.phases.push_back(
      std::make_unique<CollectPhase>(with_memory(config), config.merge, config.run.seed, privacy));
}

// A pool that grows stays below its limit, rounded up to a multiple of what it begins with.
std::size_t prompt_growth(const RunConfig& config) {
  if (!config.pool_grows()) return 1;
  const std::size_t first = config.most_prompts();
  return (config.merge.pool.limit + first - 1) / first;  // without a limit: 0
}

void add_attack(const RunConfig& config, Method& method) {
  for (auto& phase : method.phases)
    phase =
        std::make_unique<AttackPhase>(std::move(phase), config.attack, config.merge.kind, config.run.seed);
}

Gathering gathering_of(Cooperation cooperation) {
  switch (cooperation) {
    case Cooperation::peers: return Gathering::peers;
    case Cooperation::server: return Gathering::star;
    case Cooperation::none:
    case Cooperation::central: break;
  }
  return Gathering::nobody;
}

// What comes with the backbone is there where the settings ask for it, and only there.
void require_backbone_parts(const RunConfig& config, bool has_frame, bool has_metric) {
  if (config.takes_backbone_moments() != has_frame)
    throw Error(ErrorCode::invalid_argument,
                has_frame ? "moments of the backbone, which the settings do not ask for"
                          : "the settings ask for moments of the backbone, and there are none")
        .at("train.head_moments");
  if ((config.merge.metric != MergeMetric::embedding) != has_metric)
    throw Error(ErrorCode::invalid_argument,
                has_metric ? "a metric of the backbone, which the settings do not ask for"
                           : "the settings ask for the metric of the backbone, and there is none")
        .at("merge.metric");
}

}  // namespace

Method make_method(const RunConfig& given, NoiseOrigin origin, std::optional<FrameParts> frame,
                   std::shared_ptr<const std::vector<float>> metric) {
  require_backbone_parts(given, frame.has_value(), metric != nullptr);
  RunConfig config = given;
  config.merge.metric_map = std::move(metric);
  Method method;
  method.frame = std::move(frame);
  const PrivateRounds privacy{config.privacy, origin, config.run.rounds};
  method.network = {.gathering = gathering_of(config.method.cooperation),
                    .topology = config.network.topology,
                    .faults = config.network.faults};
  method.prompt_growth = prompt_growth(config);
  if (config.method.cooperation == Cooperation::server) {
    add_server(config, privacy, method);
    return method;
  }
  method.preparation = moments_phases(config.train.frame, config.train.batch, config.run.seed);
  switch (config.method.round) {
    case RoundKind::update: add_update(config, privacy, method); break;
    case RoundKind::dgd: method.phases.push_back(gradient_phase<DgdPhase>(config)); break;
    case RoundKind::d2: add_d2(config, method); break;
    case RoundKind::ntk: add_ntk(config, method); break;
  }
  if (config.attack.is_on()) add_attack(config, method);
  return method;
}

}  // namespace dfrost
