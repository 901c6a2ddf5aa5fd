// Two rounds of four clients, method by method, against the same federations in PyTorch and NumPy
// (federation_oracle.py), which runs once for all of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "config/methods.h"
#include "config/presets.h"
#include "run/method.h"
#include "run/small_simulation.h"
#include "support/support.h"
#include "train/head.h"
#include "train/oracle_export.h"

namespace dfrost {
namespace {

using nlohmann::json;

constexpr std::size_t kPerClass = 5;

struct Case {
  std::string name;
  RunConfig config;
};

RunConfig config_of(const std::string& method) {
  auto config = test::small_config();
  apply_method(config, method);
  // What D² remembers matters from the second round on.
  const bool remembers = config.method.round == RoundKind::dgd || config.method.round == RoundKind::d2;
  config.run.rounds = remembers ? 4 : 2;
  config.partition.clients_per_domain = 2;
  config.network.topology = {.kind = TopologyKind::erdos_renyi, .degree = 2};  // so that weights differ
  config.train.batch = 4;
  config.train.epochs = std::min<std::size_t>(config.train.epochs, 2);
  test::enlarge_steps(config.train.optimizer);
  if (config.prompts.count != 0) config.prompts.count = 4;
  if (config.head.kind == HeadKind::mlp) config.head.hidden = {12};
  config.ntk = {.rate = 0.05, .decay = 0.3, .steps = {5, 20, 40}};
  if (config.prompts.pool != 0) config.prompts.pool = 6;
  config.prompts.init = PromptInit::independent;
  if (config.merge.pool.limit != 0) config.merge.pool.limit = 9;
  // With as many as it has, what training in fp32 rounds off grows ten thousandfold in it; tests/merge has
  // all 50.
  config.merge.pool.passes = 5;
  return config;
}

// Kernel steps on pixels and on features, of heads of any depth, with prompts and without.
void add_kernel_cases(std::vector<Case>& all) {
  const auto add = [&](const char* name, const char* method, const auto& change) {
    all.push_back({name, config_of(method)});
    change(all.back().config);
  };
  add("ntk-perceptron", "ntk-dfl", [](RunConfig& c) { c.backbone.path = "pixels"; });
  add("dfedavgm-perceptron", "dfedavgm", [](RunConfig& c) {
    c.backbone.path = "pixels";
    c.prompts.count = 0;
    c.head.kind = HeadKind::mlp;
    c.head.hidden = {12};
  });
  add("ntk-deep", "ntk-dfl", [](RunConfig& c) {
    c.head.hidden = {9, 7, 8};
    c.train.mask = ClassMask::none;
    c.network.topology.kind = TopologyKind::full;
    c.network.faults = {.link_failure = 0.3, .active_clients = 3};
  });
  add("ntk-trained", "ntk-head", [](RunConfig& c) { c.ntk.prompts = NtkPrompts::trained; });
  add("ntk-trained-pool", "ntk-head", [](RunConfig& c) {
    c.ntk.prompts = NtkPrompts::trained;
    c.merge.kind = MergeKind::average;
    c.merge.head = HeadMerge::own;
    c.prompts.pool = 6;
    c.prompts.similarity_weight = -0.5;
  });
  add("ntk-budgets", "ntk-head", [](RunConfig& c) { c.prompts.counts = {4, 2, 3}; });
}

// What is for learning under label skew, alone and together.
void add_skewed_cases(std::vector<Case>& all) {
  const auto add = [&](const char* name, const char* method, const auto& change) {
    all.push_back({name, config_of(method)});
    all.back().config.partition.kind = PartitionKind::dirichlet;
    all.back().config.partition.alpha = 0.5;
    all.back().config.partition.min_per_client = 2;
    change(all.back().config);
  };
  const auto by_mass = [](RunConfig& c) {
    c.merge.head = HeadMerge::class_mass;
    c.merge.mass = {.decay = 0.8, .power = 0.7, .floor = 0.5};
  };
  // Features of so small a model hardly differ, and in their own measure steps are large.
  const auto whitened = [](RunConfig& c) {
    c.train.frame = {.coordinates = HeadCoordinates::whitened, .rounds = 3, .shrinkage = 1};
    c.train.optimizer.learning_rate *= 0.1;
  };
  add("class-mass", "dfrost", [](RunConfig& c) { c.merge.head = HeadMerge::class_mass; });
  add("class-mass-mlp", "dfedavgm", [&](RunConfig& c) {
    by_mass(c);
    c.head.kind = HeadKind::mlp;
    c.head.hidden = {12};
  });
  add("class-mass-d2", "d2", by_mass);
  add("prompt-mass", "dfrost", [](RunConfig& c) {
    c.merge.head = HeadMerge::class_mass;
    c.merge.weights = SenderWeights::mass;
    c.prompts.counts = {4, 2, 3};
  });
  add("prompt-mass-keys", "dfedavgm+", [&](RunConfig& c) {
    by_mass(c);
    c.merge.weights = SenderWeights::mass;
    c.prompts.keys = PoolKeys::separate;
    c.prompts.similarity_weight = -0.5;
    c.network.topology.kind = TopologyKind::full;
    c.network.faults = {.link_failure = 0.3, .active_clients = 3};
  });
  add("prompt-mass-dgd", "dgd", [&](RunConfig& c) {
    by_mass(c);
    c.merge.weights = SenderWeights::mass;
  });
  add("rest", "dfedavgm", [](RunConfig& c) {
    c.train.prompt_epochs = 1;
    c.train.prompt_rate = 0.5;
    c.train.prompt_pull = 0.3;
  });
  add("rest-pool", "dfedsam+", [](RunConfig& c) {
    c.train.prompt_epochs = 1;
    c.prompts.keys = PoolKeys::separate;
    c.prompts.similarity_weight = -0.5;
  });
  add("rest-adam-pull", "dfrost", [](RunConfig& c) {
    c.train.prompt_epochs = 1;
    c.train.prompt_rate = 0.3;
    c.train.prompt_pull = 0.1;
    c.head.kind = HeadKind::pfpt;
  });
  add("never", "dfedsam", [](RunConfig& c) { c.train.prompt_epochs = 0; });
  add("never-dgd", "dgd", [](RunConfig& c) { c.train.prompt_epochs = 0; });
  add("slow-d2", "d2", [](RunConfig& c) { c.train.prompt_rate = 0.2; });
  add("centred", "dfedavgm+",
      [](RunConfig& c) { c.train.frame = {.coordinates = HeadCoordinates::centred, .rounds = 2}; });
  add("centred-pass-on", "pass-on", [](RunConfig& c) {
    c.train.frame = {.coordinates = HeadCoordinates::centred, .rounds = 2};
    c.train.prompt_epochs = 1;
  });
  add("whitened", "dfedavgm", whitened);
  add("whitened-adam", "dfrost", [&](RunConfig& c) {
    whitened(c);
    c.train.optimizer.epsilon = 0.1;  // along what pictures hardly differ in, gradients are all rounding
  });
  add("whitened-own", "dfedavgm", [&](RunConfig& c) {
    whitened(c);
    c.train.frame.moments = MomentsOf::own;
    c.head.kind = HeadKind::mlp;
    c.head.hidden = {12};
  });
  const auto with_backbone = [&](RunConfig& c) {
    whitened(c);
    c.train.frame.moments = MomentsOf::backbone;
  };
  add("backbone", "dfedavgm", [&](RunConfig& c) {
    with_backbone(c);
    by_mass(c);
  });
  add("backbone-centred-mlp", "dfedavgm", [&](RunConfig& c) {
    with_backbone(c);
    c.train.frame.coordinates = HeadCoordinates::centred;
    c.head.kind = HeadKind::mlp;
    c.head.hidden = {12};
  });
  add("backbone-d2", "d2", with_backbone);
  add("backbone-server", "fedavg-pt", with_backbone);
  add("whitened-pfpt", "dfedsam", [&](RunConfig& c) {
    whitened(c);
    c.head.kind = HeadKind::pfpt;
  });
  add("whitened-dgd", "dgd", whitened);
  add("whitened-d2", "d2", whitened);
  add("all-together", "dfedavgm", [&](RunConfig& c) {
    by_mass(c);
    whitened(c);
    c.merge.kind = MergeKind::ot;
    c.prompts.counts = {4, 2, 3};
    c.train.prompt_epochs = 1;
    c.train.prompt_rate = 0.1;
    c.network.topology.kind = TopologyKind::full;
    c.network.faults = {.link_failure = 0.3, .active_clients = 3};
  });
}

// What protects pictures or clients, with noise that the oracle is given.
void add_private_cases(std::vector<Case>& all) {
  const auto add = [&](const char* name, const char* method, PrivacyKind kind, const auto& change) {
    all.push_back({name, config_of(method)});
    all.back().config.privacy = {.kind = kind, .clip = 0.6, .noise = 0.4};
    change(all.back().config);
  };
  add("private", "dfrost", PrivacyKind::examples, [](RunConfig&) {});
  add("private-mlp-rest", "dfedavgm", PrivacyKind::examples, [](RunConfig& c) {
    c.head.kind = HeadKind::mlp;
    c.head.hidden = {12};
    c.train.prompt_epochs = 1;
    c.train.prompt_rate = 0.5;
    c.train.prompt_pull = 0.3;
  });
  add("private-pfpt", "d-psgd", PrivacyKind::examples, [](RunConfig& c) {
    c.head.kind = HeadKind::pfpt;
    c.privacy.clip = 20;  // of some pictures, not of all
  });
  add("private-backbone", "dfedavgm", PrivacyKind::examples, [](RunConfig& c) {
    c.train.frame = {
        .coordinates = HeadCoordinates::whitened, .moments = MomentsOf::backbone, .shrinkage = 1};
    c.train.optimizer.learning_rate *= 0.1;
  });
  add("private-empty", "dfrost", PrivacyKind::examples, [](RunConfig& c) { c.train.batch = 1; });
  add("private-server", "fedavg-pt", PrivacyKind::examples, [](RunConfig& c) {
    c.train.optimizer_state = OptimizerMemory::fresh;
    c.network.faults.active_clients = 3;
  });
  add("private-client", "dfrost", PrivacyKind::client, [](RunConfig&) {});
  add("private-client-sam", "dfedsam", PrivacyKind::client, [](RunConfig& c) {
    c.privacy = {.kind = PrivacyKind::client, .clip = 1e3, .noise = 1e-4};  // nothing is cut
  });
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& method : method_presets()) all.push_back({method.name, config_of(method.name)});
  const auto add = [&](const char* name, const char* method, const auto& change) {
    all.push_back({name, config_of(method)});
    change(all.back().config);
  };
  add("adam-average", "dfrost", [](RunConfig& c) { c.merge.kind = MergeKind::average; });
  add("sam-transport", "dfedsam", [](RunConfig& c) { c.merge.kind = MergeKind::ot; });
  add("budgets", "dfrost", [](RunConfig& c) { c.prompts.counts = {4, 2, 3}; });
  add("keys", "dfrost+", [](RunConfig& c) {
    c.prompts.keys = PoolKeys::separate;
    c.prompts.similarity_weight = -0.5;
  });
  add("soft", "dfrost", [](RunConfig& c) {
    c.merge.epsilon = 2;
    c.merge.lambda = 0.05;
    c.merge.sigma2 = 2;
    c.merge.steps = 20;
  });
  add("pfpt-head", "dfrost", [](RunConfig& c) { c.head.kind = HeadKind::pfpt; });
  add("mlp", "dfedavgm", [](RunConfig& c) {
    c.head.kind = HeadKind::mlp;
    c.head.hidden = {20, 12};
  });
  add("dgd-transport", "dgd", [](RunConfig& c) {
    c.merge.kind = MergeKind::ot;
    c.prompts.counts = {4, 2, 3};
  });
  add("dgd-pool", "dgd", [](RunConfig& c) {
    c.prompts.pool = 6;
    c.prompts.similarity_weight = 0.01;
    c.method.gradient = GradientImages::batch;
  });
  add("d2-lazy", "d2", [](RunConfig& c) {
    c.network.topology = {.kind = TopologyKind::ring, .is_static = true};  // four: an eigenvalue of -1/3
    c.head.kind = HeadKind::pfpt;
  });
  add("d2-faults", "d2", [](RunConfig& c) {
    c.network.topology.kind = TopologyKind::full;
    c.network.faults = {.link_failure = 0.3, .active_clients = 3};
    c.method.gradient = GradientImages::batch;
  });
  add("server-transport", "fedavg-pt", [](RunConfig& c) {
    c.merge.kind = MergeKind::ot;
    c.merge.weights = SenderWeights::mixing;
    c.network.faults = {.link_failure = 0.3, .active_clients = 3};
    c.run.rounds = 4;
  });
  add("fedprompt-few", "fedprompt", [](RunConfig& c) {
    c.network.faults.active_clients = 2;
    c.run.rounds = 4;
  });
  add("pfpt-sgd", "pfpt", [](RunConfig& c) {
    c.train.optimizer = {.kind = OptimizerKind::sgd, .learning_rate = 0.3};
    c.head.kind = HeadKind::linear;
    c.network.faults.active_clients = 3;
  });
  add("faults", "dfrost", [](RunConfig& c) {
    c.network.topology.kind = TopologyKind::full;
    c.network.faults = {.link_failure = 0.3, .active_clients = 3};
    c.merge.weights = SenderWeights::mixing;
    c.merge.init = MergeInit::previous;
    c.merge.head = HeadMerge::own;
    c.train.mask = ClassMask::none;
  });
  add_skewed_cases(all);
  add_private_cases(all);
  add_kernel_cases(all);
  return all;
}

Simulation make(const RunConfig& config) {
  if (config.backbone.path == "pixels") {
    static const auto pixels = open_checkpoint("pixels", {.image_size = 8});
    static const auto backbone = make_backbone(*pixels, {});
    return {config, *backbone, pixels->preprocessing(), test::coloured_squares(kPerClass, 1)};
  }
  Preprocessing how;
  how.resize = how.crop = test::tiny_backbone().geometry().image_size;
  return test::make_simulation(config, how, test::coloured_squares(kPerClass, 1));
}

// Prompts larger than their first size, at which features hardly depend on them.
void enlarge_prompts(Simulation& federation) {
  auto state = federation.state();
  std::size_t first = 0;
  for (const auto& client : federation.nodes()) {
    if (!client.state.prompts().empty()) {
      const auto& part = client.state.layout.at(kPromptPart);
      for (std::size_t i = 0; i < part.size; ++i) state.values[first + part.offset + i] *= 5;
    }
    first += client.state.values.size();
  }
  federation.restore(0, state);
}

std::size_t steps_of(const RunConfig& config, std::size_t samples) {
  return (samples + config.train.batch - 1) / config.train.batch * config.train.epochs;
}

// All factors that a client's round draws, [steps, batch, hidden]; a batch that is drawn may hold all
// pictures.
std::vector<float> dropout_of(const RunConfig& config, const RandomKey& key, std::size_t samples,
                              std::size_t hidden, std::size_t& batch) {
  const std::size_t steps = steps_of(config, samples);
  batch = config.privacy.kind == PrivacyKind::examples ? samples : config.train.batch;
  std::vector<float> factors(steps * batch * hidden);
  for (std::size_t step = 0; step < steps; ++step) {
    draw_dropout(key, step, config.head.dropout, {factors.data() + step * batch * hidden, batch, hidden});
  }
  return factors;
}

// The batches that protected pictures are drawn into, step by step, of every client.
json export_private_batches(const RunConfig& config, const Simulation& federation, std::size_t round) {
  json all = json::array();
  if (config.privacy.kind != PrivacyKind::examples) return all;
  for (std::size_t u = 0; u < federation.clients().size(); ++u) {
    const std::size_t samples = federation.partition().clients[u].size();
    PrivateBatches secret({1, 1}, config.train.batch, samples, {config.run.seed, u, round});
    json batches = json::array();
    for (std::size_t step = 0; step < steps_of(config, samples); ++step) batches.push_back(secret.draw());
    all.push_back(batches);
  }
  return all;
}

// What noise is made of, [steps, values]: one step where it protects a client.
std::vector<float> normals_of(const RunConfig& config, const RandomKey& key, std::size_t steps,
                              std::size_t values) {
  const bool of_client = config.privacy.kind == PrivacyKind::client;
  NoiseSource source(NoiseOrigin::seed, key.seed, of_client ? "noise of an update" : "noise of gradients",
                     key.client, key.round);
  std::vector<float> normals(steps * values);
  for (float& value : normals) value = static_cast<float>(source.normal());
  return normals;
}

void export_noise(const Case& c, const Simulation& federation, const std::filesystem::path& path) {
  std::vector<std::vector<float>> normals;
  std::vector<FloatTensor> tensors;
  normals.reserve(c.config.run.rounds * federation.clients().size());
  for (const auto& client : federation.clients())
    for (std::size_t round = 1; round <= c.config.run.rounds; ++round) {
      const std::size_t samples = federation.partition().clients[client.id].size();
      const std::size_t steps =
          c.config.privacy.kind == PrivacyKind::client ? 1 : steps_of(c.config, samples);
      const std::size_t values = client.state.values.size();
      normals.push_back(normals_of(c.config, {c.config.run.seed, client.id, round}, steps, values));
      tensors.push_back({fmt::format("{}/{}", round, client.id), {steps, values}, normals.back()});
    }
  write_safetensors(path, tensors);
}

json export_round(const RunConfig& config, const Simulation& federation, std::size_t round) {
  const auto& clients = federation.partition().clients;
  const auto network =
      RoundPlanner(federation.method().network, clients.size(), config.run.seed).plan(round).network;
  json active = json::array(), links = json::array(), orders = json::array();
  for (std::size_t u = 0; u < clients.size(); ++u) {
    if (network.active[u]) active.push_back(u);
    RandomStream stream = data_order({config.run.seed, u, round});
    orders.push_back(json::array());
    for (std::size_t epoch = 0; epoch < config.train.epochs; ++epoch)
      orders.back().push_back(stream.permutation(clients[u].size()));
  }
  for (const auto& [a, b] : network.graph.edges()) links.push_back({a, b});
  return {{"active", active},
          {"links", links},
          {"orders", orders},
          {"private_batches", export_private_batches(config, federation, round)}};
}

void export_values(const Case& c, const Simulation& federation, const std::filesystem::path& path) {
  std::vector<FloatTensor> tensors;
  std::vector<std::vector<float>> dropout;
  dropout.reserve(c.config.run.rounds * federation.clients().size());
  for (const auto& client : federation.nodes()) {
    for (auto& tensor : tensors_of(client.state)) {
      tensor.name = fmt::format("{}/{}", client.id, tensor.name);
      tensors.push_back(tensor);
    }
    if (client.role == NodeRole::server || !drops_out(client.adapter.head)) continue;
    const std::size_t hidden =
        head_layers(client.adapter.head, test::tiny_backbone().geometry()).front().outputs;
    for (std::size_t round = 1; round <= c.config.run.rounds; ++round) {
      std::size_t batch = 0;
      const std::size_t samples = federation.partition().clients[client.id].size();
      dropout.push_back(dropout_of(c.config, {c.config.run.seed, client.id, round}, samples, hidden, batch));
      tensors.push_back({fmt::format("dropout/{}/{}", round, client.id),
                         {steps_of(c.config, samples), batch, hidden},
                         dropout.back()});
    }
  }
  write_safetensors(path, tensors);
}

json export_frame(const RunConfig& config, const Simulation& federation) {
  const auto& frame = config.train.frame;
  auto faults = config.network.faults;
  faults.active_clients = 0;  // before the first round all are there
  const Topology topology(config.network.topology, federation.clients().size(), config.run.seed);
  json links = json::array();
  if (config.method.cooperation == Cooperation::peers) {
    const auto network = draw_round(topology, faults, 0);
    for (const auto& [a, b] : network.graph.edges()) links.push_back({a, b});
  }
  json options = {{"coordinates", to_string(frame.coordinates)},
                  {"moments", to_string(frame.moments)},
                  {"rounds", frame.rounds},
                  {"shrinkage", frame.shrinkage},
                  {"links", links}};
  if (config.takes_backbone_moments()) {
    Preprocessing how;
    how.resize = how.crop = test::tiny_backbone().geometry().image_size;
    const auto moments = test::moments_of_pictures(federation.corpus(), how);
    options["given"] = {{"mean", moments.mean}, {"covariance", moments.covariance}};
  }
  return options;
}

json export_case(const Case& c, const Simulation& federation, const test::TemporaryFolder& folder) {
  export_values(c, federation, folder / (c.name + ".safetensors"));
  if (c.config.privacy.kind != PrivacyKind::none)
    export_noise(c, federation, folder / (c.name + "-noise.safetensors"));
  const auto& corpus = federation.corpus();
  const auto& merge = c.config.merge;
  json description = test::describe_training(federation.clients().front().adapter, c.config.train,
                                             test::tiny_backbone().geometry());
  description.update(
      {{"name", c.name},
       {"round", to_string(c.config.method.round)},
       {"gradient", to_string(c.config.method.gradient)},
       {"seed", c.config.run.seed},
       {"server", c.config.method.cooperation == Cooperation::server},
       {"labels", corpus.train.labels},
       {"ranges", json::array()},
       {"clients", json::array()},
       {"rounds", json::array()},
       {"merge",
        {{"kind", merge.kind == MergeKind::ot ? "ot" : "average"},
         {"epsilon", merge.epsilon},
         {"lambda", merge.lambda},
         {"sigma2", merge.sigma2},
         {"steps", merge.steps},
         {"init", merge.init == MergeInit::previous ? "previous" : "own"},
         {"weights", to_string(merge.weights)},
         {"head", to_string(merge.head)},
         {"mass", {{"decay", merge.mass.decay}, {"power", merge.mass.power}, {"floor", merge.mass.floor}}},
         {"pool", c.config.pool_grows() ? to_string(merge.pool.kind) : "fixed"},
         {"pool_limit", merge.pool.limit},
         {"pool_passes", merge.pool.passes},
         {"pool_rate", merge.pool.rate}}},
       {"pixels", c.config.backbone.path == "pixels"},
       {"ntk",
        {{"rate", c.config.ntk.rate},
         {"decay", c.config.ntk.decay},
         {"steps", c.config.ntk.steps},
         {"prompts", to_string(c.config.ntk.prompts)}}},
       {"frame_options", export_frame(c.config, federation)},
       {"privacy",
        {{"kind", to_string(c.config.privacy.kind)},
         {"clip", c.config.privacy.clip},
         {"noise", c.config.privacy.noise}}}});
  for (const auto& part : federation.clients().front().state.layout.parts())
    description["parts"].push_back(part.name);
  for (const auto& domain : corpus.domains) {
    for (std::size_t i = 0; i < domain.train_count; ++i)
      description["ranges"].push_back({domain.first_class, domain.class_names.size()});
  }
  for (const auto& client : federation.clients()) {
    description["clients"].push_back(
        {{"samples", federation.partition().clients[client.id]}, {"count", client.adapter.prompts.count}});
  }
  for (std::size_t round = 1; round <= c.config.run.rounds; ++round)
    description["rounds"].push_back(export_round(c.config, federation, round));
  return description;
}

void export_pictures(const Corpus& corpus, const std::filesystem::path& path) {
  const std::vector<float> bytes(corpus.train.bytes.begin(), corpus.train.bytes.end());
  const FloatTensor tensor{"bytes", {corpus.train.size(), 8, 8, 3}, bytes};
  write_safetensors(path, std::span(&tensor, 1));
}

// Within 1e-4 each, and the error small beside the way from the first values, but for fp32's rounding of what
// was only averaged.
void expect_near(const std::string& what, std::span<const float> ours, std::span<const float> theirs,
                 std::span<const float> first) {
  ASSERT_EQ(ours.size(), theirs.size()) << what;
  double largest = 0, error = 0, way = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double difference = static_cast<double>(ours[i]) - static_cast<double>(theirs[i]);
    largest = std::max(largest, std::abs(difference));
    error += difference * difference;
    way += std::pow(static_cast<double>(theirs[i]) - static_cast<double>(first[i]), 2);
  }
  EXPECT_LT(largest, 1e-4) << what;
  const double rounding = 1e-7 * std::sqrt(static_cast<double>(ours.size()));
  EXPECT_LE(std::sqrt(error), 1e-3 * std::sqrt(way) + rounding) << what;
}

void expect_same_states(const std::string& prefix, const Node& client, std::span<const float> first,
                        const Safetensors& theirs) {
  for (const auto& part : client.state.layout.parts()) {
    const std::string name = prefix + "/" + part.name;
    if (!theirs.contains(name) && prefix == "network") continue;
    // A pool that has grown did not come from anywhere.
    const std::vector<float> nowhere(part.size);
    const bool grown = client.state.values.size() != first.size();
    expect_near(name, std::span(client.state.values).subspan(part.offset, part.size),
                read_floats(theirs.at(name), name),
                grown ? std::span<const float>(nowhere) : first.subspan(part.offset, part.size));
  }
}

TEST(FederationOracle, EveryMethodEndsWherePyTorchAndNumPyEnd) {
  const test::TemporaryFolder folder;
  const auto& geometry = test::tiny_backbone().geometry();
  test::export_model(RandomWeights(geometry_of_model("tiny"), 1), folder / "model.safetensors");
  export_pictures(test::coloured_squares(kPerClass, 1), folder / "pictures.safetensors");
  json document = {{"image_size", geometry.image_size},
                   {"patch_size", geometry.patch_size},
                   {"federations", json::array()}};
  for (const auto& c : cases()) {
    auto federation = make(c.config);
    enlarge_prompts(federation);
    document["federations"].push_back(export_case(c, federation, folder));
  }
  write_file_atomically(folder / "cases.json", document.dump());
  test::run_python("run/federation_oracle.py", fmt::format("'{}'", folder.path().string()));

  for (const auto& c : cases()) {
    SCOPED_TRACE(c.name);
    const SafetensorsFile file(folder / (c.name + "-after.safetensors"));
    auto federation = make(c.config);
    enlarge_prompts(federation);
    std::vector<std::vector<float>> first;
    for (const auto& client : federation.nodes()) first.push_back(client.state.values);
    std::size_t messages = 0;
    for (std::size_t round = 1; round <= c.config.run.rounds; ++round) {
      const auto record = federation.run_round();
      messages += record.sent_messages;
      EXPECT_TRUE(!record.theory || record.theory->violated == 0);
      for (const auto& client : federation.nodes()) {
        expect_same_states(fmt::format("{}/{}", round, client.id), client, first[client.id], file.content());
      }
    }
    const std::vector<float> nothing(federation.network_model().state.values.size());
    expect_same_states("network", federation.network_model(), nothing, file.content());
    EXPECT_EQ(messages > 0, c.config.method.exchanges());
  }
}

}  // namespace
}  // namespace dfrost
