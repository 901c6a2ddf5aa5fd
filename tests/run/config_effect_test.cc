// No key is only for show: each one changes what a small federation computes, records or refuses.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "base/content_hash.h"
#include "base/file.h"
#include "config/configs.h"
#include "config/key.h"
#include "dfrost/error.h"
#include "records/record_json.h"
#include "run/small_experiment.h"
#include "run/small_simulation.h"

namespace dfrost {
namespace {

struct Effect {
  std::string key;
  std::string value;               // that makes a difference
  std::vector<std::string> where;  // what must be set for it to matter
};

const std::vector<Effect> kEffects = {
    {"run.seed", "4", {}},
    {"partition.kind", "extreme", {}},
    {"partition.alpha", "0.2", {"partition.kind=dirichlet"}},
    {"partition.clients_per_domain", "2", {}},
    {"partition.per", "client", {"partition.kind=dirichlet"}},
    {"partition.min_per_client", "7", {"partition.kind=dirichlet", "partition.alpha=0.2"}},
    {"partition.max_draws", "1", {"partition.kind=dirichlet", "partition.min_per_client=7"}},
    {"partition.designated_share", "0.5", {"partition.kind=extreme"}},
    {"network.topology", "full", {}},
    {"network.degree", "3", {"network.topology=regular", "network.degree=2"}},
    {"network.static", "true", {}},
    {"network.link_failure", "0.5", {}},
    {"network.active_clients", "3", {}},
    {"network.active_graph", "all", {"network.active_clients=4"}},
    {"network.late_clients", "2", {"network.join_round=2"}},
    {"network.join_round", "2", {"network.late_clients=2"}},
    {"network.meet_round", "2", {}},
    {"method.name", "d-psgd", {}},
    {"method.round", "d2", {"train.optimizer=sgd"}},
    {"method.gradient", "batch", {"train.optimizer=sgd", "method.round=dgd"}},
    {"method.cooperation", "none", {}},
    {"train.optimizer", "sgd", {}},
    {"train.optimizer_state", "kept", {}},
    {"train.learning_rate", "0.02", {}},
    {"train.momentum", "0.5", {"train.optimizer=sgd"}},
    {"train.beta1", "0.5", {}},
    {"train.beta2", "0.9", {}},
    {"train.epsilon", "0.01", {}},
    {"train.sam_radius", "0.1", {}},
    {"train.batch", "3", {}},
    {"train.epochs", "2", {}},
    {"train.max_steps", "1", {}},
    {"train.mask", "none", {}},
    {"prompts.count", "3", {}},
    {"prompts.counts", "[4, 2]", {}},
    {"prompts.pool", "6", {}},
    {"prompts.init", "shared", {}},
    {"train.prompt_epochs", "1", {"train.epochs=2"}},
    {"train.prompt_rate", "0.5", {}},
    {"train.prompt_pull", "0.5", {}},
    {"train.head_coordinates", "whitened", {}},
    {"train.head_moments", "own", {"train.head_coordinates=centred"}},
    {"train.moment_rounds", "2", {"train.head_coordinates=whitened"}},
    {"train.moment_shrinkage", "1.0", {"train.head_coordinates=whitened"}},
    {"train.moment_noise", "0.1", {"train.head_coordinates=whitened"}},
    {"prompts.keys", "separate", {"prompts.pool=6"}},
    {"prompts.choice", "per-batch", {"prompts.pool=6"}},
    {"prompts.similarity_weight", "0.1", {"prompts.pool=6"}},
    {"head.kind", "mlp", {}},
    {"head.hidden", "[5]", {"head.kind=mlp"}},
    {"head.dropout", "0.1", {"head.kind=pfpt"}},
    {"ntk.rate", "0.2", {"method.round=ntk"}},
    {"ntk.decay", "0.5", {"method.round=ntk"}},
    {"ntk.steps", "[2]", {"method.round=ntk"}},
    {"ntk.relative_tolerance", "0.5", {"method.round=ntk", "ntk.rate=2.0"}},
    {"ntk.absolute_tolerance", "5.0", {"method.round=ntk", "ntk.rate=2.0"}},
    {"ntk.pictures", "2", {"method.round=ntk"}},
    {"ntk.prompts", "trained", {"method.round=ntk"}},
    {"merge.kind", "average", {}},
    {"merge.epsilon", "1.0", {}},
    {"merge.lambda", "0.1", {}},
    {"merge.sigma2", "0.001", {}},
    {"merge.steps", "1", {}},
    {"merge.epsilon_init", "10.0", {"merge.steps=2"}},
    {"merge.tolerance", "10.0", {"merge.early_stop=true"}},
    {"merge.early_stop", "true", {"merge.tolerance=10.0"}},
    {"merge.init", "kmeans++", {}},
    {"merge.dead", "keep", {"merge.init=previous", "train.learning_rate=0.5", "merge.steps=1"}},
    {"merge.shrink", "off", {}},
    {"merge.metric", "first-block", {"prompts.init=independent"}},
    {"merge.weights", "mixing", {"network.topology=grid"}},
    {"merge.head", "own", {}},
    {"merge.pool", "pass-on", {}},
    {"merge.pool_limit", "6", {"merge.pool=pass-on"}},
    {"merge.pool_overflow", "error", {"merge.pool=pass-on", "merge.pool_limit=6"}},
    {"merge.pool_passes", "3", {"merge.pool=pfpt", "merge.pool_passes=2"}},
    {"merge.pool_rate", "0.1", {"merge.pool=pfpt", "merge.pool_passes=2"}},
    {"merge.mass_decay", "0.1", {"merge.head=class-mass", "partition.kind=dirichlet"}},
    {"merge.mass_power", "0.5", {"merge.head=class-mass", "partition.kind=dirichlet"}},
    {"merge.mass_floor", "1.0", {"merge.head=class-mass", "partition.kind=dirichlet"}},
    {"merge.mass_rounding", "3", {"merge.head=class-mass", "partition.kind=dirichlet"}},
    {"merge.mass_noise", "1.0", {"merge.head=class-mass", "partition.kind=dirichlet"}},
    {"privacy.kind", "examples", {}},
    {"privacy.clip", "0.1", {"privacy.kind=client"}},
    {"privacy.noise", "0.1", {"privacy.kind=examples"}},
    {"privacy.delta", "1e-3", {"privacy.kind=examples"}},
    {"privacy.target_epsilon", "2.0", {"privacy.kind=client"}},
    {"evaluate.every", "0", {}},
    {"evaluate.clients", "2", {}},
    {"evaluate.samples", "3", {}},
    {"evaluate.batch", "2", {"prompts.pool=6", "prompts.choice=per-batch"}},
    {"evaluate.membership", "2", {}},
    {"attack.kind", "noise", {}},
    {"attack.share", "0.5", {"attack.kind=noise"}},
    {"attack.clients", "[0, 1]", {"attack.kind=noise"}},
    {"attack.from_round", "2", {"attack.kind=noise"}},
    {"attack.strength", "2.0", {"attack.kind=noise"}},
    {"attack.target", "1", {"attack.kind=backdoor"}},
    {"defence.reject", "1.0", {"network.topology=full"}},
    {"defence.clip", "0.01", {}},
    {"defence.clip_share", "0.5", {}},
    {"defence.trim", "0.2", {}},
    {"defence.median", "0.5", {}},
    {"defence.head_clip", "0.001", {}},
    {"defence.head_clip_share", "0.5", {}},
    {"defence.head_nearest", "0.5", {}},
    {"defence.head_trim", "0.2", {}},
    {"defence.head_median", "0.5", {}},
    {"defence.mass_cap", "1.0", {"merge.head=class-mass", "partition.kind=dirichlet"}},
    {"diagnostics.theory", "true", {}},
    {"diagnostics.merge_views", "2", {}},
};

// Those about files, on a whole run from disk: FOLDER stands for where they lie.
const std::vector<Effect> kFileEffects = {
    {"run.name", "other", {}},
    {"run.rounds", "1", {}},
    {"run.threads", "2", {}},
    {"run.checkpoint_every", "0", {}},
    {"backbone.path", "FOLDER/other.safetensors", {}},
    {"backbone.precision", "bf16", {}},
    {"backbone.image_size", "8", {}},
    {"backbone.heads", "2", {}},
    {"backbone.preprocessing", "google", {}},
    {"data.domains", R"([{name = "warm", path = "FOLDER/warm", train = 30}])", {}},
    {"data.root", "FOLDER/two", {R"(data.domains=["svhn"])", "data.root=FOLDER/one"}},
    {"data.train_per_domain", "30", {}},
    {"data.test_per_domain", "10", {}},
    {"data.exif",
     "ignore",
     {R"(data.domains=[{name = "turned", path = "FOLDER/turned"}])", "data.train_per_domain=0",
      "data.test_per_domain=0"}},
    {"data.allow_fewer", "false", {"data.allow_fewer=true", "data.train_per_domain=1000"}},
    {"partition.file", "FOLDER/odd.csv", {"partition.kind=file", "partition.file=FOLDER/even.csv"}},
    {"network.file", "FOLDER/star.txt", {"network.topology=file", "network.file=FOLDER/path.txt"}},
};

// By their own words they change nothing but the time: tests/merge holds the two forms of the merge against
// each other, and a test below runs without a cache.
const std::set<std::string> kChangesOnlyTheTime = {"merge.form", "data.cache_mb"};
// Speaks of runs larger than these: tests/config holds it to its words.
const std::set<std::string> kOfLargerRuns = {"evaluate.share"};

const std::vector<std::string> kBase = {"run.seed=3",
                                        "run.rounds=3",
                                        "run.threads=1",
                                        "partition.kind=iid",
                                        "partition.clients_per_domain=3",
                                        "partition.min_per_client=1",
                                        "network.topology=ring",
                                        "train.batch=4",
                                        "train.epochs=1",
                                        "train.learning_rate=0.01",
                                        "prompts.count=4",
                                        "prompts.init=independent",
                                        "evaluate.clients=0",
                                        "evaluate.samples=0",
                                        "diagnostics.merge_views=0"};

// Two rounds: the values that they end with and all that they record but time; or why not.
std::string outcome_of(std::vector<std::string> overrides) {
  overrides.insert(overrides.begin(), kBase.begin(), kBase.end());
  try {
    Preprocessing how;
    how.resize = how.crop = test::tiny_backbone().geometry().image_size;
    Simulation federation(test::parse("", overrides), test::tiny_backbone(), how,
                          test::coloured_squares(8, 2));
    std::string outcome;
    for (int round = 0; round < 2; ++round) {
      const auto record = federation.run_round();
      auto json = to_json(record);
      json.erase("seconds");
      outcome += json.dump() + fmt::format(" {}\n", record.merge_views.size());
    }
    ContentHash hash;
    const auto values = federation.state().values;
    hash.add(std::span(values));
    return outcome + hash.hex();
  } catch (const Error& error) {
    return std::string("refused: ") + error.what();
  }
}

// Files beside those of the small experiment: what the keys above lead to.
void write_other_files(const test::SmallExperiment& experiment) {
  test::write_random_checkpoint(experiment.folder / "other.safetensors", 2);
  std::filesystem::create_directories(experiment.folder / "turned");
  test::run_python("data/make_turned_set.py", (experiment.folder / "turned").string());
  for (const auto& [root, seed] : {std::pair{"one", 1}, {"two", 2}}) {
    const auto folder = experiment.folder / root / "svhn";
    test::write_squares(folder / "train.bin", 4, static_cast<Seed>(seed));
    test::write_squares(folder / "test.bin", 2, static_cast<Seed>(seed + 10));
  }
  std::string even, odd;
  for (int picture = 0; picture < 80; ++picture) {
    even += fmt::format("{},{}\n", picture, picture % 4);
    odd += fmt::format("{},{}\n", picture, (picture + picture / 4) % 4);
  }
  write_file_atomically(experiment.folder / "even.csv", even);
  write_file_atomically(experiment.folder / "odd.csv", odd);
  write_file_atomically(experiment.folder / "path.txt", "0 1\n1 2\n2 3\n");
  write_file_atomically(experiment.folder / "star.txt", "0 1\n0 2\n0 3\n");
}

std::string file_text(const std::filesystem::path& path, const std::set<std::string>& without) {
  auto json = nlohmann::ordered_json::parse(read_text_file(path));
  for (const auto& key : without) json.erase(key);
  return json.dump();
}

// All that a run of two rounds leaves but time; or why it was refused.
std::string outcome_on_disk(const test::SmallExperiment& experiment, std::vector<std::string> overrides) {
  for (auto& text : overrides) {
    for (std::size_t at = 0; (at = text.find("FOLDER", at)) != std::string::npos;)
      text.replace(at, 6, experiment.folder.path().string());
  }
  overrides.insert(overrides.begin(), "run.rounds=2");
  const auto folder = experiment.folder / "run";
  std::filesystem::remove_all(folder);
  try {
    const auto config = parse_config(to_toml(experiment.config), "test.toml", "/", overrides);
    test::StoppingObserver observer;
    run_experiment(config, {folder}, observer);
  } catch (const Error& error) {
    return std::string("refused: ") + error.what();
  }
  std::string outcome = file_text(folder / "summary.json", {"seconds"}) +
                        file_text(folder / "about.json", {"started"}) +
                        read_text_file(folder / "adapter/network.safetensors");
  for (const auto& file : std::filesystem::directory_iterator(folder / "checkpoints"))
    outcome += "\n" + file.path().filename().string();
  return outcome;
}

TEST(ConfigKeys, EachChangesWhatARunDoes) {
  std::set<std::string> shown = kChangesOnlyTheTime;
  shown.insert(kOfLargerRuns.begin(), kOfLargerRuns.end());
  const test::SmallExperiment experiment;
  write_other_files(experiment);
  const auto check = [&](const Effect& effect, const auto& outcome) {
    SCOPED_TRACE(effect.key);
    const auto before = outcome(effect.where);
    EXPECT_FALSE(before.starts_with("refused")) << before;
    auto with = effect.where;
    with.push_back(effect.key + "=" + effect.value);
    EXPECT_NE(outcome(with), before);
    EXPECT_TRUE(shown.insert(effect.key).second) << "listed twice";
  };
  for (const auto& effect : kEffects) check(effect, outcome_of);
  for (const auto& effect : kFileEffects)
    check(effect, [&](const auto& overrides) { return outcome_on_disk(experiment, overrides); });
  for (const auto& key : config_keys())
    EXPECT_TRUE(shown.erase(key.full_name())) << key.full_name() << " is not shown";
  EXPECT_TRUE(shown.empty()) << *shown.begin() << " is no key";
}

TEST(ConfigKeys, WhatIsKeptOfPicturesChangesNoResult) {
  EXPECT_EQ(outcome_of({"data.cache_mb=0"}), outcome_of({}));
}

}  // namespace
}  // namespace dfrost
