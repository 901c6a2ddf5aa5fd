#include "config/presets.h"

#include "config/find_preset.h"
#include "config/key.h"
#include "config/methods.h"

namespace dfrost {
namespace {

RunConfig with_domains(std::initializer_list<const char*> names, std::size_t train, std::size_t test) {
  RunConfig config;
  config.data.domains.clear();
  for (const char* name : names) config.data.domains.push_back({.name = name});
  config.data.train_per_domain = train;
  config.data.test_per_domain = test;
  return config;
}

// Every client on every test picture, as the paper's figures are. That costs half as much as a round of
// training, so not after each.
void score_in_full(RunConfig& config) { config.evaluate = {.every = 10, .clients = 0, .samples = 0}; }

RunConfig five() {
  RunConfig config;
  config.run.name = "five";
  score_in_full(config);
  return config;
}

RunConfig four() {
  const CorpusOptions corpus = *corpus_preset("four");
  RunConfig config;
  config.run.name = "four";
  config.data.domains = corpus.domains;
  config.data.train_per_domain = corpus.train_per_domain;
  config.data.test_per_domain = corpus.test_per_domain;
  config.network.topology.degree = 4;
  score_in_full(config);
  return config;
}

// Few pictures, many rounds: what a laptop can do in half a minute, and a merge in each round. At half of
// frost-mini's size a picture costs a third, and so there can be more of them.
RunConfig demo() {
  RunConfig config = with_domains({"mnist", "fashion-mnist", "cifar10"}, 200, 100);
  config.run.name = "demo";
  config.run.rounds = 20;
  config.backbone.path = "frost-mini";
  config.backbone.image_size = 32;
  config.partition.kind = PartitionKind::dirichlet;
  config.partition.alpha = 0.1;
  config.partition.clients_per_domain = 10;
  config.partition.min_per_client = 2;
  config.network.topology.degree = 4;
  config.train.epochs = 1;
  config.train.batch = 8;
  config.train.optimizer.learning_rate = 0.03;
  config.evaluate = {.every = 5, .clients = 6, .samples = 100, .share = 0.5};
  return config;
}

// The paper's rate of 1e-4 is meant for thousands of steps a round; a folder of a few hundred pictures has
// tens.
RunConfig mine() {
  RunConfig config = with_domains({}, 0, 0);
  config.data.domains.push_back({.name = "mine", .path = "pictures"});
  config.run.name = "mine";
  config.run.rounds = 10;
  config.backbone.path = "frost-mini";
  config.partition.clients_per_domain = 6;
  config.partition.min_per_client = 1;
  config.network.topology.kind = TopologyKind::ring;
  config.train.epochs = 1;
  config.train.optimizer.learning_rate = 0.01;
  config.evaluate.clients = 0;
  config.evaluate.samples = 0;
  return config;
}

// PFPT's own scale, on the paper's five domains: 80 clients, of which 10 take part in a round.
RunConfig pfpt_with_server() {
  RunConfig config;
  apply_method(config, "pfpt");
  config.run.name = "pfpt";
  config.run.rounds = 120;
  config.partition.clients_per_domain = 16;
  config.network.faults.active_clients = 10;
  score_in_full(config);
  return config;
}

// What the paper shows of PFPT without a server: prompts per client over rounds.
RunConfig pfpt_explosion() {
  RunConfig config = with_domains({"fashion-mnist"}, 20'000, 2'000);
  apply_method(config, "pfpt-decentralized");
  config.run.name = "pfpt-explosion";
  config.run.rounds = 10;
  config.partition.alpha = 0.1;
  config.partition.clients_per_domain = 20;
  config.network.topology.degree = 4;
  config.merge.pool.limit = 1'000;
  config.evaluate.every = 0;
  return config;
}

// NTK-DFL's own scale and model. Its clients have 200 pictures each; here 200 on average, of which a round
// takes 200 at most.
RunConfig ntk_on_pixels() {
  RunConfig config = with_domains({"fashion-mnist"}, 60'000, 10'000);
  apply_method(config, "ntk-dfl");
  config.run.name = "ntk-dfl";
  config.run.rounds = 30;
  config.backbone.path = "pixels";
  config.partition.alpha = 0.1;
  config.partition.per = DirichletForm::per_client;
  config.partition.clients_per_domain = 300;
  config.partition.min_per_client = 1;
  config.network.topology.degree = 5;
  config.ntk.pictures = 200;
  config.evaluate = {.every = 1, .clients = 20, .samples = 0, .share = 1};
  return config;
}

}  // namespace

std::span<const ExperimentPreset> experiment_presets() {
  static const std::vector<ExperimentPreset> presets = {
      {"five", "the paper's FiveDataset: 5 domains, 50 classes, 50 clients", five()},
      {"four", "the paper's FourDataset: 4 domains, 37 classes, 40 clients", four()},
      {"demo", "three small domains, 30 clients, strong label skew: half a minute on two cores", demo()},
      {"pfpt", "PFPT with its server: the five domains over 80 clients, 10 of them a round",
       pfpt_with_server()},
      {"pfpt-explosion", "PFPT without a server: 20 clients on Fashion-MNIST, pools that grow",
       pfpt_explosion()},
      {"ntk-dfl", "NTK-DFL's own scale: 300 clients on Fashion-MNIST, a perceptron on pixels",
       ntk_on_pixels()},
      {"mine", "a folder of your own pictures, one folder per class, split over 6 clients", mine()},
  };
  return presets;
}

const ExperimentPreset& experiment_preset(std::string_view name) {
  return find_preset(experiment_presets(), "experiment", name);
}

RunConfig with_method(const ExperimentPreset& experiment, std::string_view method) {
  RunConfig config = experiment.config;
  apply_method(config, method);
  RunConfig usual;  // of the experiment's own method
  apply_method(usual, experiment.config.method.name);
  for (const auto& key : config_keys()) {
    if (!same_value(key, experiment.config, usual)) copy_value(key, experiment.config, config);
  }
  return config;
}

}  // namespace dfrost
