// A federation small enough for tests: two domains of coloured squares, a tiny random backbone.
#pragma once

#include "backbone/random_weights.h"
#include "base/random.h"
#include "config/config.h"
#include "data/corpus.h"
#include "dfrost/backbone.h"
#include "run/simulation.h"

namespace dfrost::test {

// 8×8 pictures whose colour tells their class, with noise.
inline Corpus coloured_squares(std::size_t per_class_train, std::size_t per_class_test) {
  Corpus corpus;
  RandomStream stream(1, "squares");
  constexpr int kClasses = 3;
  const auto add = [&](PictureSet& set, int label) {
    for (std::size_t i = 0; i < 8 * 8 * 3; ++i) {
      const double level = (label * 83 + static_cast<int>(i % 3) * 61) % 256;
      set.bytes.push_back(static_cast<std::uint8_t>(std::clamp(level + 20 * stream.normal(), 0.0, 255.0)));
    }
    set.labels.push_back(label);
    set.records = uniform_records(set.labels.size(), 8, 8, PictureKind::rgb);
  };
  for (int d = 0; d < 2; ++d) {
    Domain domain;
    domain.name = d == 0 ? "warm" : "cold";
    domain.class_names = {"a", "b", "c"};
    domain.first_class = d * kClasses;
    domain.first_train = corpus.train.size();
    domain.first_test = corpus.test.size();
    for (int c = 0; c < kClasses; ++c) {
      for (std::size_t i = 0; i < per_class_train; ++i) add(corpus.train, domain.first_class + c);
      for (std::size_t i = 0; i < per_class_test; ++i) add(corpus.test, domain.first_class + c);
    }
    domain.train_count = kClasses * per_class_train;
    domain.test_count = kClasses * per_class_test;
    corpus.domains.push_back(domain);
  }
  return corpus;
}

// Six clients, three per domain.
inline RunConfig small_config() {
  RunConfig config;
  config.run.seed = 3;
  config.run.rounds = 3;
  config.run.threads = 1;
  config.partition.kind = PartitionKind::iid;
  config.partition.clients_per_domain = 3;
  config.partition.min_per_client = 1;
  config.network.topology.kind = TopologyKind::ring;
  config.train.epochs = 1;
  config.train.batch = 4;
  config.train.optimizer.learning_rate = 1e-2;
  config.prompts.count = 4;
  config.evaluate.clients = 0;
  config.evaluate.samples = 0;
  config.diagnostics.theory = true;
  return config;
}

inline const Backbone& tiny_backbone() {
  static const auto backbone =
      make_backbone(RandomWeights(geometry_of_model("tiny"), 1), {.precision = Precision::fp32});
  return *backbone;
}

inline Simulation make_simulation(const RunConfig& config) {
  Preprocessing how;
  how.resize = how.crop = tiny_backbone().geometry().image_size;
  return Simulation(config, tiny_backbone(), how, coloured_squares(12, 4));
}

inline SavedNodes state_after(const RunConfig& config, std::size_t rounds) {
  auto federation = make_simulation(config);
  for (std::size_t r = 0; r < rounds; ++r) federation.run_round();
  return federation.state();
}

}  // namespace dfrost::test
