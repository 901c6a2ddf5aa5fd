#include "config/methods.h"

#include <fmt/format.h>

#include <vector>

#include "config/find_preset.h"

namespace dfrost {
namespace {

constexpr double kLearningRate = 1e-4;  // the paper's, for every method
constexpr OptimizerOptions kAdam = {.kind = OptimizerKind::adam, .learning_rate = kLearningRate};
constexpr OptimizerOptions kSgd = {.kind = OptimizerKind::sgd, .learning_rate = kLearningRate};
constexpr OptimizerOptions kMomentum = {
    .kind = OptimizerKind::sgd, .learning_rate = kLearningRate, .momentum = 0.99};
constexpr OptimizerOptions kSam = {
    .kind = OptimizerKind::sgd, .learning_rate = kLearningRate, .momentum = 0.99, .sam_radius = 0.01};
constexpr PromptOptions kSet = {.count = 10};
constexpr PromptOptions kPool = {.count = 10, .pool = 20};

// A neighbourhood's prompts at the paper's degree of five, each client's own among them.
MethodPreset pass_on() {
  return {.name = "pass-on",
          .title = "Pass-on",
          .summary = "trains as D-FROST does; prompts of others are kept unmerged, newest first",
          .train = {.optimizer = kAdam, .epochs = 5},
          .prompts = kSet,
          .merge = MergeKind::average,
          .pool = {.kind = PoolMerge::pass_on, .limit = 60}};
}

// As PFPT's own code sets them.
MethodPreset pfpt() {
  OptimizerOptions adam = kAdam;
  adam.beta2 = 0.98;
  adam.epsilon = 1e-6;
  return {.name = "pfpt",
          .title = "PFPT",
          .summary = "a server that aggregates the prompts in use into a pool of whatever size they need",
          .train = {.optimizer = adam, .epochs = 5},
          .prompts = {.count = 10, .pool = 20, .similarity_weight = 0.01},
          .merge = MergeKind::average,
          .cooperation = Cooperation::server,
          .head = HeadKind::pfpt,
          .pool = {.kind = PoolMerge::pfpt}};
}

// Ours, for clients that hold few classes; the figures behind every choice are in docs/results/label-skew.md.
MethodPreset dfrost_plus() {
  OptimizerOptions momentum = kSgd;
  momentum.momentum = 0.9;
  momentum.learning_rate = 0.03;  // of whitened features, whatever the backbone's own scale
  return {.name = "dfrost-plus",
          .title = "dfrost-plus",
          .summary =
              "not the paper's: SGD in whitened coordinates, heads merged by class mass, prompts "
              "moving slowly in the first of five epochs",
          .train = {.optimizer = momentum,
                    .epochs = 5,
                    .prompt_epochs = 1,
                    .prompt_rate = 0.03,
                    .frame = {.coordinates = HeadCoordinates::whitened}},
          .prompts = kSet,
          .merge = MergeKind::average,
          .head_merge = HeadMerge::class_mass};
}

// On pixels, the perceptron of its paper: 100 hidden units.
MethodPreset ntk_dfl() {
  return {
      .name = "ntk-dfl",
      .title = "NTK-DFL",
      .summary =
          "averages heads, then moves them along the kernel of the neighbourhood's Jacobians; a perceptron",
      .train = {.optimizer = kSgd, .epochs = 1},
      .prompts = {.count = 0},
      .merge = MergeKind::average,
      .round = RoundKind::ntk,
      .head = HeadKind::mlp,
      .hidden = {100}};
}

// Of a linear head the kernel is exact; prompts are as they were drawn, or trained as D-FROST does.
MethodPreset ntk_head() {
  return {.name = "ntk-head",
          .title = "NTK-DFL on features",
          .summary = "the same for a linear head on frozen features: features travel in place of Jacobians",
          .train = {.optimizer = kAdam, .epochs = 5},
          .prompts = kSet,
          .merge = MergeKind::ot,
          .round = RoundKind::ntk};
}

std::vector<MethodPreset> make_methods() {
  const TrainOptions adam{.optimizer = kAdam, .epochs = 5};
  const TrainOptions step{.optimizer = kSgd, .epochs = 1};
  std::vector<MethodPreset> methods = {
      {"dfrost", "D-FROST", "Adam for five epochs; prompts merged by optimal transport, heads averaged", adam,
       kSet, MergeKind::ot},
      {"d-psgd", "D-PSGD-PT", "plain SGD for one epoch; prompts and heads averaged by index", step, kSet,
       MergeKind::average},
      {"dfedavgm",
       "DFedAvgM-PT",
       "SGD with momentum for five epochs; prompts and heads averaged by index",
       {.optimizer = kMomentum, .epochs = 5},
       kSet,
       MergeKind::average},
      {"dfedsam",
       "DFedSAM-PT",
       "adaptive SAM over SGD with momentum for five epochs; averaged by index",
       {.optimizer = kSam, .epochs = 5},
       kSet,
       MergeKind::average},
  };
  const std::size_t of_the_paper = methods.size();
  for (std::size_t i = 0; i < of_the_paper; ++i) {
    MethodPreset plus = methods[i];
    plus.summary = fmt::format("{} with a pool of 20 prompts, of which each picture uses 10", plus.title);
    plus.name += "+";
    plus.title += "+";
    plus.prompts = kPool;
    methods.push_back(std::move(plus));
  }
  methods.push_back({"dgd", "DGD", "averages by index, then one step of the gradient taken before", step,
                     kSet, MergeKind::average, RoundKind::dgd});
  methods.push_back({"d2", "D²",
                     "one gradient step a round, corrected by the last round's; averaged by index", step,
                     kSet, MergeKind::average, RoundKind::d2});
  methods.push_back({"local", "local training", "trains as D-FROST does, and nobody exchanges anything", adam,
                     kSet, MergeKind::ot, RoundKind::update, Cooperation::none});
  methods.push_back({"central", "central training",
                     "trains as D-FROST does, on one client that has all pictures", adam, kSet, MergeKind::ot,
                     RoundKind::update, Cooperation::central});
  methods.push_back({"fedavg-pt", "FedAvg-PT",
                     "a server; Adam for five epochs; prompts and heads averaged, weighted by pictures", adam,
                     kSet, MergeKind::average, RoundKind::update, Cooperation::server});
  methods.push_back({"fedprompt", "FedPrompt",
                     "a server; Adam for five epochs; prompts alone travel, each client keeps its head", adam,
                     kSet, MergeKind::average, RoundKind::update, Cooperation::server, HeadMerge::own});
  methods.push_back({"dfedavg",
                     "DFedAvg-PT",
                     "SGD without momentum for five epochs; prompts and heads averaged by index",
                     {.optimizer = kSgd, .epochs = 5},
                     kSet,
                     MergeKind::average});
  methods.push_back(pass_on());
  methods.push_back(pfpt());
  methods.push_back(pfpt());
  methods.back().name = "pfpt-decentralized";
  methods.back().title = "PFPT, decentralized";
  methods.back().summary =
      "PFPT's aggregation by every client over its own and its neighbours' pools: they grow";
  methods.back().cooperation = Cooperation::peers;
  methods.push_back(dfrost_plus());
  methods.push_back(ntk_dfl());
  methods.push_back(ntk_head());
  return methods;
}

}  // namespace

std::span<const MethodPreset> method_presets() {
  static const std::vector<MethodPreset> methods = make_methods();
  return methods;
}

const MethodPreset& method_preset(std::string_view name) {
  return find_preset(method_presets(), "method", name);
}

void apply_method(RunConfig& config, std::string_view name) {
  const MethodPreset& method = method_preset(name);
  config.method.name = method.name;
  config.method.round = method.round;
  config.method.cooperation = method.cooperation;
  config.train = method.train;
  static_cast<PromptOptions&>(config.prompts) = method.prompts;
  config.merge.kind = method.merge;
  config.merge.head = method.head_merge;
  config.merge.pool = method.pool;
  config.head.kind = method.head;
  config.head.hidden = method.hidden;
}

}  // namespace dfrost
