// run_experiment() and what it leaves on disk, from files to files.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "adapter/adapter_use.h"
#include "base/file.h"
#include "config/toml_file.h"
#include "kernels/cpu.h"
#include "measure/evaluation.h"
#include "run/corpus_samples.h"
#include "run/small_experiment.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;
using test::SmallExperiment;
using test::StoppingObserver;

std::string adapter_bytes(const SmallExperiment& experiment) {
  return read_text_file(experiment.run_folder() / "adapter/network.safetensors") +
         read_text_file(experiment.run_folder() / "adapter/client-003.safetensors");
}

void expect_result_of_an_unbroken_run(const SmallExperiment& experiment) {
  StoppingObserver observer;
  SmallExperiment whole;
  whole.run(observer);
  EXPECT_EQ(adapter_bytes(experiment), adapter_bytes(whole));
}

void stop_after(const SmallExperiment& experiment, std::size_t rounds) {
  StoppingObserver stopping(rounds);
  test::expect_error(ErrorCode::cancelled, "stopped", [&] { experiment.run(stopping); });
}

std::size_t count_of(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

TEST(RunExperiment, GoesOnWhenBackboneAndPicturesHaveMoved) {
  StoppingObserver observer;
  SmallExperiment whole;
  whole.run(observer);
  SmallExperiment moved;
  stop_after(moved, 1);
  fs::rename(moved.folder / "model.safetensors", moved.folder / "elsewhere.safetensors");
  fs::rename(moved.folder / "warm", moved.folder / "new place");
  moved.config.backbone.path = moved.folder / "elsewhere.safetensors";
  moved.config.data.domains[0].path = moved.folder / "new place";
  moved.config.run.threads = 2;
  const auto result = moved.run(observer, true);
  EXPECT_EQ(result.totals.rounds, 3u);
  EXPECT_EQ(observer.notes.back(), "resumed after round 1");
  // All but the backbone's name in the card is the same.
  const auto ours = read_adapter(whole.run_folder() / "adapter/network.safetensors");
  const auto theirs = read_adapter(moved.run_folder() / "adapter/network.safetensors");
  EXPECT_EQ(ours.state.values, theirs.state.values);
}

TEST(RunExperiment, RefusesToGoOnWithOtherWeightsPicturesOrSettingsAndSaysWhichItIs) {
  StoppingObserver observer;
  SmallExperiment experiment;
  stop_after(experiment, 1);
  const auto expect_refused = [&](const SmallExperiment& other, const std::string& why) {
    test::expect_error(ErrorCode::failed_precondition, why, [&] {
      run_experiment(other.config, {experiment.run_folder(), true}, observer);
    });
  };
  SmallExperiment other;
  test::write_random_checkpoint(other.folder / "model.safetensors", 2);
  const std::string files = "its pictures, its backbone or a listed file have changed since";
  expect_refused(other, files);
  SmallExperiment pictures;
  test::write_squares(pictures.folder / "warm/train.bin", 4, 9);
  expect_refused(pictures, files);
  SmallExperiment settings;
  settings.config.train.batch = 5;
  settings.config.evaluate.every = 1;  // changes no result, and is no reason
  expect_refused(settings, "other settings: train.batch was 4 and is now 5");
  SmallExperiment prepared;
  write_file_atomically(prepared.folder / "preprocessor_config.json",
                        R"({"size": 12, "image_mean": [0, 0, 0]})");
  expect_refused(prepared, files);
  SmallExperiment lost;
  stop_after(lost, 1);
  fs::remove(lost.run_folder() / "config.toml");
  lost.config.train.batch = 5;
  test::expect_error(ErrorCode::failed_precondition, "other settings or files",
                     [&] { lost.run(observer, true); });
  EXPECT_EQ(experiment.run(observer, true).totals.rounds, 3u);
}

TEST(RunExperiment, NamesItsOwnKeyWhereTheMachineHasNoBf16) {
  const ScopedBf16UnitForTesting without(Bf16Unit::none);
  StoppingObserver observer;
  SmallExperiment experiment;
  experiment.config.backbone.precision = Precision::bf16;
  test::expect_error(ErrorCode::invalid_argument, "backbone.precision", [&] { experiment.run(observer); });
}

TEST(RunExperiment, SaysInWhichPrecisionARunWasBegunThatTheMachineNoLongerChoosesByItself) {
  StoppingObserver observer;
  SmallExperiment experiment;
  experiment.config.backbone.precision = Precision::automatic;
  {
    const ScopedBf16UnitForTesting none(Bf16Unit::none);
    stop_after(experiment, 1);
  }
  const ScopedBf16UnitForTesting tiles(Bf16Unit::tiles);  // none of which is used before the refusal
  test::expect_error(ErrorCode::failed_precondition, "begun in \"fp32\", and would go on in \"bf16\"",
                     [&] { experiment.run(observer, true); });
  experiment.config.backbone.precision = Precision::fp32;
  EXPECT_EQ(experiment.run(observer, true).totals.rounds, 3u);
}

TEST(RunExperiment, KnowsAListedNetworkByItsLinksNotByItsFile) {
  StoppingObserver observer;
  SmallExperiment experiment;
  const auto links = experiment.folder / "links.txt";
  write_file_atomically(links, "0 1\n1 2\n2 3\n");
  experiment.config.network.topology = {.kind = TopologyKind::file, .file = links};
  stop_after(experiment, 1);
  write_file_atomically(links, "0 1\n1 2\n0 3\n");
  test::expect_error(ErrorCode::failed_precondition, "a listed file have changed",
                     [&] { experiment.run(observer, true); });
  experiment.config.network.topology.file = experiment.folder / "moved.txt";
  write_file_atomically(experiment.config.network.topology.file, "3 2  # the same links\n2 1\n0 1\n");
  EXPECT_EQ(experiment.run(observer, true).totals.rounds, 3u);
}

TEST(RunExperiment, LosesNoRoundByAStopHoweverRarelyItSaves) {
  StoppingObserver observer;
  SmallExperiment experiment;
  experiment.config.run.checkpoint_every = 0;
  stop_after(experiment, 2);
  experiment.run(observer, true);
  EXPECT_EQ(observer.notes.back(), "resumed after round 2");
  expect_result_of_an_unbroken_run(experiment);
}

TEST(RunExperiment, LeavesTheFolderOfAnotherProcessAlone) {
  StoppingObserver observer;
  const SmallExperiment experiment;
  stop_after(experiment, 1);
  const auto metrics = read_text_file(experiment.run_folder() / "metrics.jsonl");
  {
    const FolderLock other_process(experiment.run_folder());
    test::expect_error(ErrorCode::failed_precondition, "another process",
                       [&] { experiment.run(observer, true); });
  }
  EXPECT_EQ(read_text_file(experiment.run_folder() / "metrics.jsonl"), metrics);
}

TEST(RunExperiment, ClearsAwayWhatAKilledProcessLeftHalfWritten) {
  StoppingObserver observer;
  const SmallExperiment experiment;
  stop_after(experiment, 1);
  const auto half = experiment.run_folder() / "checkpoints/round-000002.safetensors.00c0ffee00c0ffee.tmp";
  write_file_atomically(half, "half");
  write_file_atomically(experiment.run_folder() / "notes.tmp", "somebody's own");
  experiment.run(observer, true);
  EXPECT_FALSE(fs::exists(half));
  EXPECT_TRUE(fs::exists(experiment.run_folder() / "notes.tmp"));
}

TEST(RunExperiment, RefusesADomainWithNothingToScoreOn) {
  StoppingObserver observer;
  SmallExperiment experiment;
  fs::remove(experiment.folder / "cold/test.bin");
  test::write_squares(experiment.folder / "cold/train.bin", 2, 5);  // of 2 pictures a class none is held out
  experiment.config.data.train_per_domain = experiment.config.data.test_per_domain = 0;
  test::expect_error(ErrorCode::failed_precondition, "cold has no test pictures",
                     [&] { experiment.run(observer); });
  EXPECT_FALSE(fs::exists(experiment.run_folder()));
}

TEST(RunExperiment, LogsRoundsStopsAndResumptions) {
  StoppingObserver observer;
  const SmallExperiment experiment;
  stop_after(experiment, 2);
  experiment.run(observer, true);
  const auto log = read_text_file(experiment.run_folder() / "run.log");
  EXPECT_EQ(count_of(log, "stopped: stopped by the test"), 1u);
  EXPECT_EQ(count_of(log, "resumed after round 2"), 1u);
  EXPECT_EQ(count_of(log, "  round 3: loss "), 1u);
  EXPECT_EQ(count_of(log, "ended; adapters written"), 1u);
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    ASSERT_GT(line.size(), 22u);
    EXPECT_EQ(line.substr(19, 3), "Z  ") << line;  // 2026-01-31T23:59:59Z
  }
}

TEST(RunExperiment, IsDescribedByTheCommandThatMakesAllOfItAlsoWhenResumed) {
  StoppingObserver observer;
  SmallExperiment experiment;
  const auto file = experiment.run_folder() / "about.json";
  const auto about = [&] { return nlohmann::json::parse(read_text_file(file)); };
  StoppingObserver stopping(1);
  test::expect_error(ErrorCode::cancelled, "stopped", [&] {
    run_experiment(experiment.config, {experiment.run_folder(), false, "dfrost run small.toml"}, stopping);
  });
  const auto first = about();
  EXPECT_EQ(first["command"], "dfrost run small.toml");
  EXPECT_EQ(first["working_folder"], fs::current_path().string());
  EXPECT_FALSE(first.contains("resumed"));

  const std::string longer = "dfrost run small.toml --set run.rounds=4";
  experiment.config.run.rounds = 4;
  run_experiment(experiment.config, {experiment.run_folder(), true, longer}, observer);
  const auto second = about();
  EXPECT_EQ(second["command"], longer);
  EXPECT_EQ(second["started"], first["started"]);
  EXPECT_EQ(second["partition"], first["partition"]);
  ASSERT_EQ(second["resumed"].size(), 1u);
  EXPECT_EQ(second["resumed"][0]["after_round"], 1);
  const RunConfig described = load_config(experiment.run_folder() / "config.toml");
  EXPECT_EQ(to_toml(described), to_toml(experiment.config));

  // Nothing is left to do: what is there stays described as it was made.
  experiment.config.run.rounds = 2;
  run_experiment(experiment.config, {experiment.run_folder(), true, "dfrost run small.toml"}, observer);
  EXPECT_EQ(about(), second);

  // A damaged description takes the run no further down.
  write_file_atomically(file, "{");
  experiment.config.run.rounds = 5;
  run_experiment(experiment.config, {experiment.run_folder(), true, longer}, observer);
  EXPECT_EQ(about()["resumed"][0]["after_round"], 4);
}

TEST(RunExperiment, NamesAFullDiskAndLosesNothingByIt) {
  StoppingObserver observer;
  const SmallExperiment experiment;
  stop_after(experiment, 2);
  const auto metrics = read_text_file(experiment.run_folder() / "metrics.jsonl");
  const auto log = experiment.run_folder() / "run.log";
  fs::remove(log);
  fs::create_symlink("/dev/full", log);  // every write fails for want of space
  test::expect_error(ErrorCode::resource_exhausted, "--resume", [&] { experiment.run(observer, true); });
  EXPECT_EQ(read_text_file(experiment.run_folder() / "metrics.jsonl"), metrics);
  fs::remove(log);
  experiment.run(observer, true);
  expect_result_of_an_unbroken_run(experiment);
}

TEST(RunExperiment, RefusesToStartOverWhenNoCheckpointCanBeRead) {
  StoppingObserver observer;
  const SmallExperiment experiment;
  stop_after(experiment, 2);
  const auto metrics = read_text_file(experiment.run_folder() / "metrics.jsonl");
  for (const auto& file : fs::directory_iterator(experiment.run_folder() / "checkpoints"))
    fs::resize_file(file.path(), 100);
  test::expect_error(ErrorCode::data_loss, "none of the run's checkpoints",
                     [&] { experiment.run(observer, true); });
  EXPECT_EQ(read_text_file(experiment.run_folder() / "metrics.jsonl"), metrics);
}

TEST(RunExperiment, LeavesASummaryWithEveryFigureThatItPromises) {
  StoppingObserver observer;
  const SmallExperiment experiment;
  experiment.run(observer);
  const auto summary =
      nlohmann::json::parse(read_text_file(experiment.run_folder() / "summary.json"), nullptr, true);
  EXPECT_EQ(summary.at("method"), "dfrost");
  EXPECT_EQ(summary.at("rounds"), 3);
  EXPECT_EQ(summary.at("clients"), 4);
  EXPECT_GT(summary.at("sent_bytes").get<std::size_t>(), 0u);
  const auto& final = summary.at("final");
  for (const char* name : {"accuracy_masked", "accuracy_unmasked"}) {
    const auto& spread = final.at(name);
    EXPECT_LE(spread.at("min").get<double>(), spread.at("mean").get<double>());
    EXPECT_LE(spread.at("mean").get<double>(), spread.at("max").get<double>());
    EXPECT_GE(spread.at("std").get<double>(), 0);
  }
  for (const char* name :
       {"network_accuracy_masked", "network_accuracy_unmasked", "consensus_error", "loss", "off_index_mass"})
    EXPECT_TRUE(final.at(name).is_number()) << name;
  double sum = 0;
  for (const char* name : {"train", "exchange", "merge", "measure", "evaluate"})
    sum += summary.at("seconds").at(name).get<double>();
  EXPECT_NEAR(summary.at("seconds").at("total").get<double>(), sum, 1e-9);
}

TEST(RunExperiment, KeepsTheLastScoresInItsSummaryWhenItGoesOn) {
  SmallExperiment experiment;
  experiment.config.run.rounds = 5;
  experiment.config.evaluate.every = 2;
  stop_after(experiment, 2);
  const auto final_scores = [&] {
    return nlohmann::json::parse(read_text_file(experiment.run_folder() / "summary.json"))["final"];
  };
  const auto scores = final_scores();
  StoppingObserver stopping(1);  // after round 3, which is not scored
  test::expect_error(ErrorCode::cancelled, "stopped", [&] { experiment.run(stopping, true); });
  EXPECT_NE(final_scores()["train_loss"], scores["train_loss"]);
  EXPECT_EQ(final_scores()["accuracy_masked"], scores["accuracy_masked"]);
  EXPECT_EQ(final_scores()["network_loss"], scores["network_loss"]);
}

TEST(RunExperiment, OfNoRoundsScoresTheUntrainedClients) {
  StoppingObserver observer;
  SmallExperiment experiment;
  experiment.config.run.rounds = 0;
  const auto result = experiment.run(observer);
  ASSERT_TRUE(result.last.evaluation);
  EXPECT_EQ(result.last.evaluation->clients.size(), 2u);
  EXPECT_TRUE(fs::exists(experiment.run_folder() / "summary.json"));
  EXPECT_TRUE(std::isnan(result.last.train_loss));
  EXPECT_EQ(result.totals.seconds.train, 0);
  EXPECT_GT(result.totals.seconds.evaluate, 0);
}

TEST(RunExperiment, LeavesAdaptersThatScoreAsTheRunDid) {
  StoppingObserver observer;
  for (const std::size_t pool_size : {0, 5}) {
    SmallExperiment experiment;
    experiment.config.prompts.pool = pool_size;
    const auto result = experiment.run(observer);
    const auto adapter = read_adapter(experiment.run_folder() / "adapter/network.safetensors");
    EXPECT_EQ(adapter.card.model, "network");
    const auto checkpoint = open_backbone_of(adapter.card, experiment.config.backbone.path);
    const auto backbone = make_backbone(*checkpoint, {.precision = Precision::fp32, .training = false});
    const auto& config = experiment.config;
    const auto corpus = open_pictures_for(adapter.card, config.corpus());
    const CorpusSamples samples(corpus, corpus.test, *backbone, adapter.card.preprocessing, 1 << 20);
    Workspace workspace(*backbone);
    const auto chosen = scored_samples(config.evaluate, corpus, config.run.seed);
    const auto score = evaluate(adapter.card.adapter, adapter.state, samples, chosen,
                                {adapter.card.mask, config.evaluate.batch}, workspace);
    EXPECT_EQ(score.total().samples, 20u);
    EXPECT_EQ(score.total().accuracy_masked(), result.last.evaluation->network_accuracy_masked);
    EXPECT_EQ(score.total().accuracy_unmasked(), result.last.evaluation->network_accuracy_unmasked);
    EXPECT_EQ(score.total().loss(), result.last.evaluation->network_loss);

    // One picture alone gives the class that counted in the score.
    std::size_t correct = 0;
    for (const std::size_t i : chosen) {
      Image scratch;
      const auto logits = logits_of(adapter, view_picture(corpus.test, i, scratch), workspace, nullptr);
      const auto& domain = adapter.card.domains[samples.domain(i)];
      correct += best_predictions(logits, domain.range(), 1).front().class_index == samples.label(i) ? 1 : 0;
    }
    EXPECT_EQ(correct, score.total().correct_masked);
  }
}

// One that was trained for a round.
StoredAdapter adapter_of(SmallExperiment& experiment, const std::string& name) {
  StoppingObserver observer;
  experiment.config.run.rounds = 1;
  experiment.run(observer);
  return read_adapter(experiment.run_folder() / "adapter" / name);
}

TEST(Adapter, IsRefusedAroundAnotherBackbone) {
  SmallExperiment experiment;
  const auto adapter = adapter_of(experiment, "client-001.safetensors");
  EXPECT_EQ(adapter.card.model, "client-001");
  const auto other = experiment.folder / "other.safetensors";
  test::write_random_checkpoint(other, 2);
  try {
    open_backbone_of(adapter.card, other);
    ADD_FAILURE() << "taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::failed_precondition);
    EXPECT_NE(std::string(error.what()).find("other weights"), std::string::npos) << error.what();
    EXPECT_NE(error.hint().find("'model.safetensors'"), std::string::npos) << error.hint();
  }
}

TEST(Adapter, FindsClassesByTheirNamesAndNamesWhatItDoesNotKnow) {
  SmallExperiment experiment;
  const auto adapter = adapter_of(experiment, "network.safetensors");
  auto options = experiment.config.corpus();
  options.domains = {options.domains[1]};  // the second alone: its classes still are 10 … 19
  const auto corpus = open_pictures_for(adapter.card, options);
  EXPECT_EQ(*std::ranges::min_element(corpus.test.labels), 10);
  EXPECT_EQ(*std::ranges::max_element(corpus.test.labels), 19);
  options.domains[0].name = "colt";
  test::expect_error(ErrorCode::not_found, "did you mean 'cold'",
                     [&] { open_pictures_for(adapter.card, options); });
  auto renamed = adapter.card;
  renamed.domains[1].class_names[4] = "four";
  options.domains[0].name = "cold";
  test::expect_error(ErrorCode::failed_precondition, "no class",
                     [&] { open_pictures_for(renamed, options); });
}

// What a run's folder held before it was resumed is there afterwards, whatever was done to it.
struct ResumedExperiment : testing::Test {
  test::SmallExperiment experiment;
  test::StoppingObserver observer;
  std::filesystem::path folder = experiment.run_folder();

  ResumedExperiment() { experiment.run(observer); }
  std::string text(const std::string& name) const { return read_text_file(folder / name); }
  void resume() { experiment.run(observer, true); }
  bool noted(const std::string& what) const {
    return std::ranges::any_of(observer.notes,
                               [&](const auto& note) { return note.find(what) != std::string::npos; });
  }
};

TEST_F(ResumedExperiment, KeepsEveryRecordThatCanBeReadAndNamesTheOneThatCannot) {
  const auto whole = text("metrics.jsonl");
  auto damaged = whole;
  const auto second = whole.find('\n') + 1;
  damaged[second + 2] = static_cast<char>(damaged[second + 2] ^ 0x80);
  write_file_atomically(folder / "metrics.jsonl", damaged);
  resume();
  EXPECT_EQ(std::ranges::count(text("metrics.jsonl"), '\n'), 2);
  EXPECT_EQ(text("metrics.jsonl.damaged"), damaged.substr(second, whole.find('\n', second) + 1 - second));
  EXPECT_TRUE(noted("1 damaged line set aside in metrics.jsonl.damaged"));
  EXPECT_TRUE(noted("no record of 1 round"));
}

TEST_F(ResumedExperiment, SaysWhichRecordsAreMissing) {
  std::filesystem::remove(folder / "metrics.jsonl");
  resume();
  EXPECT_TRUE(noted("no record of 3 rounds that are done: 1, 2, 3"));
}

TEST_F(ResumedExperiment, DoesNotStartOverWhereItsCheckpointsAreGone) {
  const auto records = text("metrics.jsonl");
  std::filesystem::remove_all(folder / "checkpoints");
  test::expect_error(ErrorCode::failed_precondition, "no checkpoint to go on from", [&] { resume(); });
  EXPECT_EQ(text("metrics.jsonl"), records);
}

TEST_F(ResumedExperiment, DoesNotStartOverWithoutAWordAlsoWhereNoCheckpointWasDue) {
  experiment.config.run.checkpoint_every = 0;
  const auto records = text("metrics.jsonl");
  std::filesystem::remove_all(folder / "checkpoints");
  test::expect_error(ErrorCode::failed_precondition, "--start-over", [&] { resume(); });
  EXPECT_EQ(text("metrics.jsonl"), records);
}

TEST_F(ResumedExperiment, StartsOverAtAWordAndLosesNothing) {
  const auto records = text("metrics.jsonl"), adapter = text("adapter/network.safetensors");
  const auto start_over = [&] {
    return run_experiment(experiment.config, {.folder = folder, .start_over = true}, observer);
  };
  for (const char* aside : {"small-old-1", "small-old-2"}) {
    EXPECT_EQ(start_over().totals.rounds, 3u);
    EXPECT_TRUE(
        noted(std::string("the run that was there is now ") + (folder.parent_path() / aside).string()));
    EXPECT_EQ(std::ranges::count(text("metrics.jsonl"), '\n'), 3);
    EXPECT_EQ(text("adapter/network.safetensors"), adapter);
  }
  EXPECT_EQ(read_text_file(folder.parent_path() / "small-old-1/metrics.jsonl"), records);
  const FolderLock other_process(folder);
  test::expect_error(ErrorCode::failed_precondition, "another process", start_over);
}

TEST_F(ResumedExperiment, KeepsTheEventsOfRoundsWhoseRecordsAreGone) {
  const std::string events = "tensorboard/events.out.tfevents.dfrost";
  const auto whole = text(events);
  std::filesystem::remove(folder / "metrics.jsonl");
  resume();
  EXPECT_EQ(text(events), whole);
}

TEST_F(ResumedExperiment, IsDescribedAgainWhereItsDescriptionIsGone) {
  const auto config = text("config.toml");
  std::filesystem::remove(folder / "config.toml");
  std::filesystem::remove(folder / "about.json");
  resume();
  EXPECT_EQ(text("config.toml"), config);
  EXPECT_TRUE(nlohmann::json::parse(text("about.json")).contains("domains"));
}

TEST_F(ResumedExperiment, MakesGoodASummaryThatIsMissingOrOld) {
  const auto summary = text("summary.json");
  for (const bool missing : {true, false}) {
    missing ? static_cast<void>(std::filesystem::remove(folder / "summary.json"))
            : write_file_atomically(folder / "summary.json", "{\"rounds\": 2}\n");
    resume();
    EXPECT_EQ(text("summary.json"), summary);
  }
}

TEST_F(ResumedExperiment, MakesEventsAnewThatWereDamaged) {
  const std::string events = "tensorboard/events.out.tfevents.dfrost";
  const auto whole = text(events);
  auto damaged = whole;
  damaged[whole.size() / 2] = static_cast<char>(damaged[whole.size() / 2] ^ 1);
  write_file_atomically(folder / events, damaged);
  resume();
  EXPECT_EQ(text(events).size(), whole.size());
  EXPECT_EQ(text(events + ".damaged"), damaged);
  EXPECT_TRUE(noted("made anew from the records"));
}

}  // namespace
}  // namespace dfrost
