#include "run/run.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "backbone/weights_fingerprint.h"
#include "base/file.h"
#include "dfrost/error.h"
#include "records/about.h"
#include "run/backbone_frame.h"
#include "run/opening.h"
#include "run/result_fingerprint.h"
#include "run/resumption.h"
#include "run/run_files.h"
#include "run/run_log.h"
#include "run/write_adapters.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

// A place that is told to stop may save as long as there is something to save.
class Savable {
 public:
  Savable(RunPlace& place, Saver& saver) : place_(place) {
    place.can_save([&saver] { return saver.save(); });
  }
  ~Savable() { place_.can_save({}); }
  Savable(const Savable&) = delete;
  Savable& operator=(const Savable&) = delete;

 private:
  RunPlace& place_;
};

// The rounds that are missing, each on disk before the next.
void run_rounds(const RunConfig& config, const RunOptions& options, const std::string& fingerprint,
                Simulation& federation, RunPlace& place, RunLog& log, RunResult& result) {
  const auto progress = [&](const RoundProgress& state) { log.on_progress(state); };
  RunFiles files(config, {.folder = options.folder, .clients = federation.clients().size()}, result.totals,
                 log);
  if (config.run.rounds == 0 && federation.rounds_done() == 0) {
    result.last = federation.score_untrained(progress);
    log.on_round(result.last);
    files.add_untrained(result.last);
    files.summarize();
  }
  Saver saver(options.folder / "checkpoints", fingerprint, config.run.checkpoint_every, config.run.rounds,
              federation.rounds_done());
  const Savable savable(place, saver);
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
    files.add(record);
    auto evaluation = record.evaluation ? record.evaluation : result.last.evaluation;
    result.last = record;
    result.last.evaluation = std::move(evaluation);
    saver.after_round(files.totals(), federation.state());
    files.summarize();
    or_save([&] { log.on_round(record); });
  }
  result.totals = files.totals();
}

class ThisProcess final : public RunPlace {
 public:
  std::unique_ptr<Workforce> gather(const Groundwork& ground, const std::string&) override {
    return make_local_workforce(ground);
  }
};

// Who does what, for whoever looks for a rank that is slow.
void tell_shares(const Simulation& federation, RunLog& log) {
  for (const auto& [what, hint] : federation.doubts()) log.on_warning(what, hint);
  const auto ranks = federation.shares();
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const RankShare& share = ranks[rank];
    log.write(fmt::format("rank {} of {}: {} clients, {} pictures a round, on {} thread{} of {}", rank,
                          ranks.size(), share.clients.size(), share.work, share.threads,
                          share.threads == 1 ? "" : "s", share.host));
  }
}

RunResult run_logged(const RunConfig& config, const RunOptions& options, RunPlace& place, RunLog& log) {
  const auto source = open_backbone(config.backbone, log);
  auto corpus = open_pictures(config, log);
  const auto weights = weights_fingerprint(*source);
  const auto backbone = place.make_model(*source, {.precision = config.backbone.precision}, weights);
  auto method =
      make_method(config, NoiseOrigin::seed, backbone_frame(config, config.backbone.path, *source, weights),
                  backbone_metric(config, *source));
  Simulation federation(config, std::move(method), *backbone, source->preprocessing(), std::move(corpus),
                        [&](const Groundwork& ground) { return place.gather(ground, weights); });
  const auto fingerprint = result_fingerprint(
      config, weights, backbone->precision(), source->preprocessing(),
      {federation.corpus(), federation.partition(), federation.topology()}, federation.method().frame);
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
  tell_shares(federation, log);
  log.on_ready(config, federation, *backbone);
  run_rounds(config, options, fingerprint, federation, place, log, result);
  const auto card = adapter_card(config, federation.corpus(), *backbone, source->preprocessing(), weights);
  write_adapters(options.folder / "adapter", card, federation);
  log.write("ended; adapters written");
  return result;
}

}  // namespace

std::unique_ptr<Backbone> RunPlace::make_model(const WeightSource& source, const BackboneOptions& options,
                                               const std::string&) {
  return make_backbone(source, options);
}

RunResult run_experiment(const RunConfig& config, const RunOptions& options, RunObserver& watcher) {
  ThisProcess alone;
  return run_experiment(config, options, watcher, alone);
}

RunResult run_experiment(const RunConfig& config, const RunOptions& options, RunObserver& watcher,
                         RunPlace& place) {
  config.validate();
  if (!options.resume && !options.start_over) refuse_existing_run(options.folder);
  RunLog log(options.folder / "run.log", watcher);
  try {
    return run_logged(config, options, place, log);
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
