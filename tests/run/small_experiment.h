// A whole experiment on disk, small enough for tests: a random checkpoint under timm's names, two data sets
// of coloured squares as label-and-pixels records, and the config that goes with them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "backbone/moments_file.h"
#include "backbone/small_checkpoint.h"
#include "backbone/weights_fingerprint.h"
#include "base/random.h"
#include "config/config.h"
#include "run/backbone_frame.h"
#include "run/run.h"
#include "support/support.h"

namespace dfrost::test {

inline void write_random_checkpoint(const std::filesystem::path& path, Seed seed) {
  std::vector<std::vector<float>> values;
  std::vector<FloatTensor> tensors;
  const SmallCheckpoint model;
  RandomStream random(seed, "checkpoint");
  for (const auto& [name, shape] : model.shapes) {
    auto& own = values.emplace_back(*element_count(shape));
    const bool scale = name.find("norm") != std::string::npos && name.ends_with("weight");
    for (float& value : own) value = static_cast<float>((scale ? 1 : 0) + 0.15 * random.normal());
  }
  for (std::size_t i = 0; const auto& [name, shape] : model.shapes)
    tensors.push_back({name, shape, values[i++]});
  write_safetensors(path, tensors);
}

// A byte of label, then the 32×32 planes: the colour tells the class.
inline void write_squares(const std::filesystem::path& path, std::size_t per_class, Seed seed) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  RandomStream random(seed, "squares");
  for (std::size_t i = 0; i < 10 * per_class; ++i) {
    const auto label = static_cast<int>(i % 10);
    file.put(static_cast<char>(label));
    for (int plane = 0; plane < 3; ++plane) {
      const double level = (label * 83 + plane * 61 * static_cast<int>(seed)) % 256;
      for (int pixel = 0; pixel < 1024; ++pixel)
        file.put(static_cast<char>(
            static_cast<std::uint8_t>(std::clamp(level + 20 * random.normal(), 0.0, 255.0))));
    }
  }
}

// A checkpoint, model.safetensors, and two data sets, warm and cold.
inline void write_small_files(const std::filesystem::path& folder) {
  write_random_checkpoint(folder / "model.safetensors", 1);
  for (const Seed domain : {1, 2}) {
    const std::string name = domain == 1 ? "warm" : "cold";
    write_squares(folder / (name + "/train.bin"), 4, domain);
    write_squares(folder / (name + "/test.bin"), 2, domain + 10);
  }
}

// Moments beside the checkpoint, of pictures that are noise.
inline void write_small_moments(const BackboneSection& section, Seed seed = 1) {
  const auto checkpoint = open_checkpoint(section.path, section.checkpoint_options());
  const auto backbone = make_backbone(*checkpoint, {.precision = Precision::fp32, .training = false});
  const Geometry& g = backbone->geometry();
  const std::size_t rows = 200 * g.patches();
  std::vector<float> pixels(rows * g.patch_values());
  RandomStream random(seed, "pictures");
  for (float& value : pixels) value = static_cast<float>(random.normal());
  ThreadPool threads(1);
  FeatureSums sums(*backbone);
  sums.add({pixels.data(), rows, g.patch_values()}, threads);
  write_moments(moments_file(section.path, g.image_size), sums.moments(),
                moments_origin(*checkpoint, weights_fingerprint(*checkpoint)));
}

struct SmallExperiment {
  TemporaryFolder folder;
  RunConfig config;

  SmallExperiment() {
    write_small_files(folder.path());
    for (const std::string name : {"warm", "cold"})
      domains.push_back({.name = name, .path = folder / name, .format = "records"});
    config.run = {.name = "small", .seed = 3, .rounds = 3, .threads = 1};
    config.backbone = {.path = folder / "model.safetensors", .precision = Precision::fp32};
    config.data = {.domains = domains, .train_per_domain = 40, .test_per_domain = 20};
    config.partition = {.kind = PartitionKind::iid, .clients_per_domain = 2, .min_per_client = 1};
    config.network.topology.kind = TopologyKind::ring;
    config.train = {.optimizer = {.learning_rate = 1e-2}, .batch = 4, .epochs = 1};
    config.prompts.count = 3;
    config.evaluate = {.every = 1, .clients = 2, .samples = 10};
    config.diagnostics.theory = true;
  }

  std::filesystem::path run_folder() const { return folder / "runs/small"; }
  RunResult run(RunObserver& observer, bool resume = false) const {
    return run_experiment(config, {run_folder(), resume}, observer);
  }

  std::vector<DomainSpec> domains;
};

// Ends the run in the round given, as Ctrl-C would, and holds every round to the theory.
class StoppingObserver final : public RunObserver {
 public:
  explicit StoppingObserver(std::size_t rounds = 1'000) : rounds_(rounds) {}
  void on_note(const std::string& text) override { notes.push_back(text); }
  void on_warning(const std::string& what, const std::string&) override { warnings.push_back(what); }
  void on_ready(const RunConfig&, const Simulation&, const Backbone&) override {}
  void on_progress(const RoundProgress&) override {
    if (done_ >= rounds_) throw Error(ErrorCode::cancelled, "stopped by the test");
  }
  void on_round(const RoundRecord& record) override {
    ++done_;
    EXPECT_TRUE(!record.theory || record.theory->violated == 0) << "round " << record.round;
  }

  std::vector<std::string> notes, warnings;

 private:
  std::size_t rounds_;
  std::size_t done_ = 0;
};

}  // namespace dfrost::test
