// A federation small enough for tests: two domains of coloured squares, a tiny random backbone.
#pragma once

#include "backbone/random_weights.h"
#include "base/random.h"
#include "config/config.h"
#include "data/corpus.h"
#include "dfrost/backbone.h"
#include "dfrost/preprocessing.h"
#include "run/backbone_frame.h"
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

inline RandomWeights tiny_weights() { return RandomWeights(geometry_of_model("tiny"), 1); }

inline const Backbone& tiny_backbone() {
  static const auto backbone = make_backbone(tiny_weights(), {.precision = Precision::fp32});
  return *backbone;
}

// Of the tiny backbone's features over the corpus' training pictures, as `dfrost backbone moments` takes
// them.
inline FeatureMoments moments_of_pictures(const Corpus& corpus, const Preprocessing& how) {
  std::vector<ImageView> views;
  for (std::size_t i = 0; i < corpus.train.size(); ++i)
    views.push_back({corpus.train.bytes.data() + i * 8 * 8 * 3, 8, 8});
  const Geometry& g = tiny_backbone().geometry();
  const auto pixels = preprocess(views, how, g);
  ThreadPool threads(1);
  FeatureSums sums(tiny_backbone());
  sums.add({pixels.data(), views.size() * g.patches(), g.patch_values()}, threads);
  return sums.moments();
}

inline FrameParts frame_of_moments(const FeatureMoments& moments, const HeadFrameOptions& options) {
  InputMoments all{static_cast<double>(moments.count), {moments.mean.begin(), moments.mean.end()}, {}};
  if (options.coordinates == HeadCoordinates::whitened)
    all.covariance.assign(moments.covariance.begin(), moments.covariance.end());
  return frame_parts(all, options.shrinkage).value();
}

// With the moments that it asks for, where they come with the backbone.
inline Simulation make_simulation(const RunConfig& config, const Preprocessing& how, Corpus corpus) {
  std::optional<FrameParts> frame;
  if (config.takes_backbone_moments())
    frame = frame_of_moments(moments_of_pictures(corpus, how), config.train.frame);
  std::shared_ptr<const std::vector<float>> metric;
  if (config.merge.metric != MergeMetric::embedding)
    metric = std::make_shared<std::vector<float>>(tiny_weights().first_block_map());
  return {config, make_method(config, NoiseOrigin::seed, std::move(frame), std::move(metric)),
          tiny_backbone(), how, std::move(corpus)};
}

inline Simulation make_simulation(const RunConfig& config) {
  Preprocessing how;
  how.resize = how.crop = tiny_backbone().geometry().image_size;
  return make_simulation(config, how, coloured_squares(12, 4));
}

inline SavedNodes state_after(const RunConfig& config, std::size_t rounds) {
  auto federation = make_simulation(config);
  for (std::size_t r = 0; r < rounds; ++r) federation.run_round();
  return federation.state();
}

}  // namespace dfrost::test
