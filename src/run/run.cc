#include "run/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>

#include "backbone/checkpoint.h"
#include "backbone/weights_fingerprint.h"
#include "base/file.h"
#include "base/json.h"
#include "base/quote.h"
#include "base/stopwatch.h"
#include "config/settings_identity.h"
#include "config/toml_file.h"
#include "dfrost/error.h"
#include "measure/evaluation.h"
#include "records/about.h"
#include "records/event_file.h"
#include "records/record_file.h"
#include "records/record_json.h"
#include "records/savepoint_file.h"
#include "run/result_fingerprint.h"
#include "run/resumption.h"
#include "run/run_log.h"
#include "run/write_adapters.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

void tell_damage(const fs::path& file, const KeptRecords& kept, RunObserver& observer) {
  if (kept.damaged == 0) return;
  observer.on_note(fmt::format("{}: {} damaged line{} set aside in {}{}", file.filename().string(),
                               kept.damaged, kept.damaged == 1 ? "" : "s", file.filename().string(),
                               kSetAside));
}

// Rounds that are done and of which nothing is recorded any more.
void tell_gaps(const KeptRecords& kept, std::size_t done, RunObserver& observer) {
  std::vector<bool> recorded(done + 1, false);
  for (const auto& line : kept.lines) recorded[line.at("round").get<std::size_t>()] = true;
  std::vector<std::size_t> missing;
  for (std::size_t round = 1; round <= done; ++round)
    if (!recorded[round]) missing.push_back(round);
  if (missing.empty()) return;
  constexpr std::size_t kNamed = 8;
  const auto named = std::span(missing).first(std::min(kNamed, missing.size()));
  observer.on_note(
      fmt::format("metrics.jsonl has no record of {} round{} that are done: {}{}; the run goes on without",
                  missing.size(), missing.size() == 1 ? "" : "s", fmt::join(named, ", "),
                  missing.size() > kNamed ? ", …" : ""));
}

void append_merges(const fs::path& path, const RoundRecord& record) {
  std::vector<std::string> lines;
  for (const auto& view : record.merge_views) lines.push_back(to_json(view).dump());
  append_lines(path, lines);
}

std::unique_ptr<Checkpoint> open_backbone(const BackboneSection& backbone, RunObserver& observer) {
  CheckpointOptions how;
  if (backbone.image_size != 0) how.image_size = backbone.image_size;
  if (backbone.heads != 0) how.heads = backbone.heads;
  if (!backbone.preprocessing.empty()) how.preprocessing = backbone.preprocessing;
  auto checkpoint = open_checkpoint(backbone.path, how);
  for (const auto& doubt :
       {doubt_about_heads(*checkpoint, how.heads.has_value()), doubt_about_pictures(*checkpoint)}) {
    if (doubt) observer.on_warning(doubt->what, doubt->hint);
  }
  return checkpoint;
}

void require_classes(const Corpus& corpus) {
  if (corpus.classes() > 1) return;
  const Domain& only = corpus.domains.front();
  throw Error(ErrorCode::failed_precondition,
              fmt::format("{} has one class, {}: nothing to tell apart", only.name,
                          quote_name(only.class_names.front())),
              "one folder per class, directly below the folder or below train/ and test/")
      .at(only.name);
}

Corpus open_pictures(const RunConfig& config, RunObserver& observer) {
  ThreadPool threads(config.run.threads);
  auto corpus = open_corpus(config.corpus(), {.pool = &threads});
  for (const auto& domain : corpus.domains) {
    for (const auto& note : domain.notes) observer.on_note(domain.name + ": " + note);
    if (domain.skipped.count() > 0) {
      observer.on_note(fmt::format("{}: {} files skipped", domain.name, domain.skipped.count()));
    }
  }
  if (const auto scoring = config.scoring(); scoring.samples != config.evaluate.samples) {
    observer.on_note(
        fmt::format("scored on {} test pictures of each domain, so that scoring takes about {:g} % "
                    "of the run; evaluate.share = 1 lifts that",
                    scoring.samples, 100 * config.evaluate.share));
  }
  require_test_pictures(corpus);
  require_classes(corpus);
  return corpus;
}

void add_to(RunTotals& totals, const RoundRecord& record) {
  totals.rounds = record.round;
  totals.seconds += record.seconds;
  totals.sent_bytes += record.sent_bytes;
  totals.images += record.images;
}

// A run that goes on is described by the command that it goes on with, which makes all of it again.
void describe_run(const RunConfig& config, const fs::path& folder, nlohmann::ordered_json about,
                  std::optional<std::size_t> resumed_after) {
  write_file_atomically(folder / "config.toml", to_toml(config));
  const fs::path file = folder / "about.json";
  if (resumed_after) {
    continue_about(fs::exists(file) ? read_text_file(file) : std::string(), *resumed_after, about);
  }
  // A path need not be UTF-8.
  write_file_atomically(file, dump_json(about) + "\n");
}

// What is recorded of a run so far, as its files have it.
struct Recorded {
  nlohmann::ordered_json last;        // the last round's line
  nlohmann::ordered_json evaluation;  // of the last round that had one
  void add(nlohmann::ordered_json record) {
    if (record.contains("evaluation")) evaluation = record["evaluation"];
    last = std::move(record);
  }
};

void write_summary(const fs::path& folder, const RunConfig& config, const Simulation& federation,
                   const RunTotals& totals, const Recorded& recorded) {
  const auto summary =
      summary_json(config, federation.clients().size(), recorded.last, totals, recorded.evaluation);
  write_file_atomically(folder / "summary.json", summary.dump(2) + "\n");
}

// Says when a round's state is saved, and sees to it that a stop loses no round that is done, however rarely
// that is.
class Saver {
 public:
  Saver(const RunConfig& config, fs::path folder, std::string fingerprint, const Simulation& federation)
      : config_(config),
        folder_(std::move(folder)),
        fingerprint_(std::move(fingerprint)),
        federation_(federation) {}

  void after_round(const RunTotals& totals) {
    const std::size_t done = federation_.rounds_done(), every = config_.run.checkpoint_every;
    unsaved_ = {done, fingerprint_, totals, federation_.state()};
    if (done == config_.run.rounds || (every > 0 && done % every == 0)) save();
  }

  void save() {
    if (unsaved_) write_savepoint(folder_, *unsaved_);
    unsaved_.reset();
  }

 private:
  const RunConfig& config_;
  fs::path folder_;
  std::string fingerprint_;
  const Simulation& federation_;
  std::optional<Savepoint> unsaved_;  // of the last round, which the one under way changes
};

// The rounds that are missing, each on disk before the next.
void run_rounds(const RunConfig& config, const RunOptions& options, const std::string& fingerprint,
                Simulation& federation, RunLog& log, RunResult& result) {
  const auto progress = [&](const RoundProgress& state) { log.on_progress(state); };
  const fs::path metrics = options.folder / "metrics.jsonl";
  const fs::path merges = options.folder / "merges.jsonl";
  const std::size_t done = federation.rounds_done();
  tell_damage(merges, keep_rounds_until(merges, done), log);
  auto kept = keep_rounds_until(metrics, done);
  tell_damage(metrics, kept, log);
  tell_gaps(kept, done, log);
  EventFile events(options.folder / "tensorboard" / "events.out.tfevents.dfrost", kept.lines, done);
  if (events.made_anew())
    log.on_note("TensorBoard's events were damaged or incomplete: made anew from the records");
  Recorded recorded;
  for (auto& line : kept.lines) recorded.add(std::move(line));
  const auto summarize = [&] { write_summary(options.folder, config, federation, result.totals, recorded); };
  // The process may have died between its last record and the summary of it.
  if (!recorded.last.is_null() && recorded.last.at("round") == done) summarize();
  if (config.run.rounds == 0 && done == 0) {
    result.last = federation.score_untrained(progress);
    result.totals.seconds += result.last.seconds;
    log.on_round(result.last);
    recorded.add(to_json(result.last));
    summarize();
  }
  Saver saver(config, options.folder / "checkpoints", fingerprint, federation);
  // Whoever watches may stop the run in either.
  const auto or_save = [&](const auto& step) {
    try {
      return step();
    } catch (const Error& error) {
      if (error.code() == ErrorCode::cancelled) saver.save();
      throw;
    }
  };
  while (federation.rounds_done() < config.run.rounds) {
    const auto record = or_save([&] { return federation.run_round(progress); });
    add_to(result.totals, record);
    // The round's merges first: a line of metrics.jsonl says that the round is complete.
    append_merges(merges, record);
    recorded.add(to_json(record));
    append_lines(metrics, std::array{recorded.last.dump()});
    events.add(record.round, scalars_of(recorded.last), seconds_since_1970());
    auto evaluation = record.evaluation ? record.evaluation : std::move(result.last.evaluation);
    result.last = record;
    result.last.evaluation = std::move(evaluation);
    saver.after_round(result.totals);
    summarize();
    or_save([&] { log.on_round(record); });
  }
}

RunResult run_logged(const RunConfig& config, const RunOptions& options, RunLog& log) {
  const auto source = open_backbone(config.backbone, log);
  auto corpus = open_pictures(config, log);
  const auto backbone = make_backbone(*source, {.precision = config.backbone.precision});
  const auto weights = weights_fingerprint(*source);
  Simulation federation(config, *backbone, source->preprocessing(), std::move(corpus));
  const auto fingerprint =
      result_fingerprint(config, weights, backbone->precision(), source->preprocessing(), federation);
  if (options.start_over) move_run_aside(options.folder, log);
  fs::create_directories(options.folder);
  const FolderLock lock(options.folder);
  if (!options.resume) refuse_existing_run(options.folder);  // again: another may have come first meanwhile
  remove_leftovers(options.folder);
  log.open();
  RunResult result;
  std::optional<std::size_t> resumed_after;
  if (options.resume) {
    if (auto checkpoint = savepoint_to_resume(options.folder, log)) {
      if (checkpoint->fingerprint != fingerprint) {
        throw other_run(options.folder, config, backbone->precision()).at(options.folder.string());
      }
      federation.restore(checkpoint->round, checkpoint->nodes);
      result.totals = checkpoint->totals;
      resumed_after = checkpoint->round;
      log.on_note(fmt::format("resumed after round {}", checkpoint->round));
    } else {
      require_nothing_to_lose(options.folder, config, backbone->precision(), log);
    }
  }
  const bool described =
      fs::exists(options.folder / "about.json") && fs::exists(options.folder / "config.toml");
  if (!described || !resumed_after || *resumed_after < config.run.rounds) {  // else all is done
    describe_run(config, options.folder,
                 about_json(config, federation.participants(), *backbone, to_string(source->family()),
                            options.command),
                 resumed_after);
  }
  for (const auto& note : federation.method().notes) log.on_note(note);
  log.on_ready(config, federation, *backbone);
  run_rounds(config, options, fingerprint, federation, log, result);
  write_adapters(options.folder / "adapter", federation, config, *backbone, source->preprocessing(), weights);
  log.write("ended; adapters written");
  return result;
}

}  // namespace

RunResult run_experiment(const RunConfig& config, const RunOptions& options, RunObserver& watcher) {
  config.validate();
  if (!options.resume && !options.start_over) refuse_existing_run(options.folder);
  RunLog log(options.folder / "run.log", watcher);
  try {
    return run_logged(config, options, log);
  } catch (const Error& error) {
    log.write_if_possible(fmt::format("stopped: {}", error.what()));
    if (error.code() != ErrorCode::resource_exhausted || !error.hint().empty()) throw;
    throw Error(error.code(), error.what(),
                "make room and go on by --resume: what was written before is whole")
        .at(error.place());
  } catch (const std::exception& error) {
    log.write_if_possible(fmt::format("stopped: {}", error.what()));
    throw;
  }
}

}  // namespace dfrost
