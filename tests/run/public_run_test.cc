#include <gtest/gtest.h>

#include <cmath>

#include "base/file.h"
#include "config/toml_file.h"
#include "data/corpus.h"
#include "dfrost/dfrost.h"
#include "run/small_experiment.h"

namespace dfrost {
namespace {

using test::SmallExperiment;

Config config_of(const SmallExperiment& experiment) { return Config::parse(to_toml(experiment.config)); }

class Watcher final : public Observer {
 public:
  explicit Watcher(std::size_t last_round = 1'000) : last_round_(last_round) {}
  void on_ready(const RunStart& start) override { starts.push_back(start); }
  void on_progress(const Progress& progress) override { images = std::max(images, progress.images); }
  void on_round(const Round& round) override {
    rounds.push_back(round);
    if (round.round == last_round_) throw Error(ErrorCode::cancelled, "seen enough");
  }

  std::vector<RunStart> starts;
  std::vector<Round> rounds;
  std::size_t images = 0;

 private:
  std::size_t last_round_;
};

void expect_same_figures(const FigureValues& a, const FigureValues& b) {
  EXPECT_EQ(a.names(), b.names());
  for (const auto name : a.names()) {
    const double x = *a.get(name), y = *b.get(name);
    EXPECT_TRUE(x == y || (std::isnan(x) && std::isnan(y))) << name << ": " << x << " and " << y;
  }
}

TEST(PublicRun, TellsItsObserverWhatItLeavesOnDisk) {
  SmallExperiment experiment;
  experiment.config.evaluate.every = 2;
  Watcher watcher;
  const auto summary = run(config_of(experiment), {.folder = experiment.run_folder()}, watcher);
  ASSERT_EQ(watcher.starts.size(), 1u);
  EXPECT_EQ(watcher.starts[0].clients, 4u);
  EXPECT_EQ(watcher.starts[0].classes, 20u);
  EXPECT_GT(watcher.images, 0u);

  const auto loaded = load_run(experiment.run_folder());
  ASSERT_EQ(loaded.rounds.size(), watcher.rounds.size());
  for (std::size_t i = 0; i < loaded.rounds.size(); ++i) {
    EXPECT_EQ(loaded.rounds[i].round, i + 1);
    expect_same_figures(loaded.rounds[i].figures, watcher.rounds[i].figures);
  }
  EXPECT_FALSE(loaded.rounds[0].figure("evaluation.loss"));
  EXPECT_TRUE(loaded.rounds[1].figure("evaluation.loss"));
  ASSERT_TRUE(loaded.summary);
  expect_same_figures(loaded.summary->figures, summary.figures);
  EXPECT_EQ(summary.figure("consensus_error"), loaded.rounds.back().figure("consensus_error"));
  EXPECT_EQ(summary.method, "dfrost");
  EXPECT_EQ(loaded.config.get("run.rounds"), "3");
  EXPECT_TRUE(loaded.finished);
  EXPECT_EQ(loaded.client_adapters.size(), 4u);
}

TEST(PublicRun, StoppedByItsObserverGoesOnToTheSameBytes) {
  SmallExperiment whole, stopped;
  // The checkpoint at the end is the only one that these settings ask for.
  stopped.config.run.checkpoint_every = whole.config.run.checkpoint_every = 0;
  run(config_of(whole), {.folder = whole.run_folder()});
  Watcher first(2);
  test::expect_error(ErrorCode::cancelled, "seen enough",
                     [&] { run(config_of(stopped), {.folder = stopped.run_folder()}, first); });
  EXPECT_FALSE(load_run(stopped.run_folder()).finished);
  Watcher second;
  run(config_of(stopped), {.folder = stopped.run_folder(), .resume = true}, second);
  EXPECT_EQ(second.starts.front().rounds_done, 2u);
  EXPECT_EQ(second.rounds.size(), 1u);
  const auto bytes = [](const SmallExperiment& experiment) {
    return read_text_file(*load_run(experiment.run_folder()).network_adapter);
  };
  EXPECT_EQ(bytes(stopped), bytes(whole));
}

TEST(PublicRun, StoppedInItsLastRoundHasASummary) {
  SmallExperiment experiment;
  Watcher watcher(3);
  test::expect_error(ErrorCode::cancelled, "seen enough",
                     [&] { run(config_of(experiment), {.folder = experiment.run_folder()}, watcher); });
  const auto stopped = load_run(experiment.run_folder());
  EXPECT_EQ(stopped.summary->rounds, 3u);
  EXPECT_FALSE(stopped.finished);
  run(config_of(experiment), {.folder = experiment.run_folder(), .resume = true});
  EXPECT_TRUE(load_run(experiment.run_folder()).finished);
}

TEST(PublicRun, IsNotFoundOrReadWhereThereIsNone) {
  const test::TemporaryFolder folder;
  test::expect_error(ErrorCode::not_found, "holds no run", [&] { load_run(folder.path()); });
  SmallExperiment experiment;
  run(config_of(experiment), {.folder = experiment.run_folder()});
  append_to_file(experiment.run_folder() / "metrics.jsonl", "{\"schema\": 1, \"rou");
  EXPECT_EQ(load_run(experiment.run_folder()).rounds.size(), 3u);  // a half line is one that is being written
  append_to_file(experiment.run_folder() / "metrics.jsonl", "\n");
  test::expect_error(ErrorCode::data_loss, "metrics.jsonl", [&] { load_run(experiment.run_folder()); });
}

TEST(PublicAdapter, SaysWhatItIsAndClassifiesAroundItsBackbone) {
  SmallExperiment experiment;
  run(config_of(experiment), {.folder = experiment.run_folder()});
  const Adapter adapter(load_run(experiment.run_folder()).client_adapters.at(2));
  EXPECT_EQ(adapter.info().model, "client-002");
  EXPECT_EQ(adapter.info().round, 3u);
  EXPECT_EQ(adapter.info().domains.at(1).first_class, 10u);
  ASSERT_EQ(adapter.tensors().front().name, "prompt_embeddings");
  EXPECT_EQ(adapter.tensors().front().shape.front(), 3u);

  test::expect_error(ErrorCode::invalid_argument, "where its backbone lies",
                     [&] { Classifier without(adapter); });
  Classifier classifier(adapter, {.backbone = experiment.config.backbone.path});
  const std::vector<std::uint8_t> grey(3 * 20 * 10, 128);
  const auto guesses = classifier.classify({grey.data(), 20, 10}, 20, "cold");
  ASSERT_EQ(guesses.size(), 10u);
  double sum = 0;
  for (const auto& guess : guesses) sum += guess.probability;
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_EQ(guesses[0].domain, "cold");
  EXPECT_GE(guesses[0].probability, guesses[9].probability);
  EXPECT_EQ(classifier.classify({grey.data(), 20, 10}).size(), 3u);
}

TEST(Figures, AreAskedForByNamesThatAreKnown) {
  FigureValues values;
  EXPECT_TRUE(values.names().empty());
  for (const auto& figure : known_figures()) {
    EXPECT_FALSE(values.get(figure.name)) << figure.name;
    EXPECT_FALSE(figure.title.empty() || figure.meaning.empty()) << figure.name;
  }
  test::expect_error(ErrorCode::invalid_argument, "did you mean 'consensus_error'",
                     [&] { values.get("consensus_eror"); });
}

}  // namespace
}  // namespace dfrost
