#include "run/run.h"

#include <fmt/format.h>

#include <array>

#include "backbone/checkpoint.h"
#include "base/file.h"
#include "dfrost/error.h"
#include "run/about.h"
#include "run/checkpoint_file.h"
#include "run/config_file.h"
#include "run/record_file.h"
#include "run/record_json.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

// What may differ between a run and its resumption: nothing that changes a result.
std::string result_fingerprint(RunConfig config) {
  config.run.name.clear();
  config.run.rounds = 0;  // more rounds may be asked for
  config.run.threads = 0;
  config.run.checkpoint_every = 0;
  config.evaluate = {};
  config.diagnostics = {};
  return fingerprint_of(to_toml(config));
}

void refuse_existing_run(const fs::path& folder) {
  if (!fs::exists(folder / "metrics.jsonl")) return;
  throw Error(ErrorCode::already_exists, fmt::format("{} already holds a run", folder.string()),
              "go on with it by --resume, or give another name by --set run.name=…")
      .at(folder.string());
}

std::optional<RunCheckpoint> checkpoint_to_resume(const fs::path& folder, const std::string& fingerprint,
                                                  RunObserver& observer) {
  auto found = newest_checkpoint(folder / "checkpoints");
  for (const auto& damaged : found.damaged) observer.on_note("passed over a damaged checkpoint: " + damaged);
  if (!found.checkpoint) return std::nullopt;
  if (found.checkpoint->fingerprint != fingerprint) {
    throw Error(ErrorCode::failed_precondition, "the checkpoint belongs to a run with other settings",
                "resume with the settings that it was started with (its config.toml), or start a new run")
        .at(folder.string());
  }
  return std::move(found.checkpoint);
}

void append_merges(const fs::path& path, const RoundRecord& record) {
  std::vector<std::string> lines;
  for (const auto& view : record.merge_views) lines.push_back(to_json(view).dump());
  append_lines(path, lines);
}

void write_adapters(const fs::path& folder, const Federation& federation, const RunConfig& config) {
  fs::create_directories(folder);
  const auto write = [&](const std::string& name, const Client& client) {
    const auto tensors = tensors_of(client.state);
    write_safetensors(folder / (name + ".safetensors"), tensors, {{"format", "dfrost adapter 1"}});
  };
  for (const auto& client : federation.clients()) write(fmt::format("client-{:03}", client.id), client);
  write("network", federation.network_model());
  nlohmann::ordered_json card = {{"method", config.method.name},
                                 {"round", federation.rounds_done()},
                                 {"seed", config.run.seed},
                                 {"backbone", config.backbone.path.filename().string()},
                                 {"prompts", config.prompts.held()},
                                 {"head", to_string(config.head.kind)},
                                 {"mask", to_string(config.train.mask)},
                                 {"domains", nlohmann::ordered_json::array()}};
  for (const auto& domain : federation.pool().domains) {
    card["domains"].push_back(
        {{"name", domain.name}, {"first_class", domain.first_class}, {"classes", domain.class_names}});
  }
  write_file_atomically(folder / "card.json", card.dump(2) + "\n");
}

}  // namespace

RunResult run_experiment(const RunConfig& config, const RunOptions& options, RunObserver& observer) {
  config.validate();
  const fs::path metrics = options.folder / "metrics.jsonl";
  const fs::path merges = options.folder / "merges.jsonl";
  const fs::path about = options.folder / "about.json";
  const auto fingerprint = result_fingerprint(config);
  if (!options.resume) refuse_existing_run(options.folder);

  CheckpointOptions how;
  if (config.backbone.image_size != 0) how.image_size = config.backbone.image_size;
  if (config.backbone.heads != 0) how.heads = config.backbone.heads;
  if (!config.backbone.preprocessing.empty()) how.preprocessing = config.backbone.preprocessing;
  const auto source = open_checkpoint(config.backbone.path, how);
  auto pool = open_pool(config.pool());
  for (const auto& domain : pool.domains) {
    for (const auto& note : domain.notes) observer.on_note(domain.name + ": " + note);
    if (domain.skipped.count() > 0) {
      observer.on_note(fmt::format("{}: {} files skipped", domain.name, domain.skipped.count()));
    }
  }
  const auto backbone = make_backbone(*source, {.precision = config.backbone.precision});
  Federation federation(config, *backbone, source->preprocessing(), std::move(pool));

  fs::create_directories(options.folder);
  RunResult result;
  if (options.resume) {
    if (auto checkpoint = checkpoint_to_resume(options.folder, fingerprint, observer)) {
      federation.restore(checkpoint->round, checkpoint->values);
      result.totals = checkpoint->totals;
      observer.on_note(fmt::format("resumed after round {}", checkpoint->round));
    }
  }
  write_file_atomically(options.folder / "config.toml", to_toml(config));
  if (!options.resume || !fs::exists(about)) {
    const auto document =
        about_json(config, federation, *backbone, to_string(source->family()), options.command);
    write_file_atomically(about, document.dump() + "\n");
  }
  keep_rounds_until(merges, federation.rounds_done());
  keep_rounds_until(metrics, federation.rounds_done());
  observer.on_ready(config, federation, *backbone);

  while (federation.rounds_done() < config.run.rounds) {
    auto record =
        federation.run_round([&](const Federation::Progress& progress) { observer.on_progress(progress); });
    result.totals.rounds = record.round;
    result.totals.seconds += record.seconds;
    result.totals.sent_bytes += record.sent_bytes;
    result.totals.images += record.images;
    // The round's merges first: a line of metrics.jsonl says that the round is complete.
    append_merges(merges, record);
    append_lines(metrics, std::array{to_json(record).dump()});
    observer.on_round(record);
    if (!record.evaluation) record.evaluation = result.last.evaluation;
    result.last = std::move(record);
    const bool last = federation.rounds_done() == config.run.rounds;
    const std::size_t every = config.run.checkpoint_every;
    if (last || (every > 0 && federation.rounds_done() % every == 0)) {
      write_checkpoint(options.folder / "checkpoints",
                       {federation.rounds_done(), fingerprint, result.totals, federation.values()});
    }
    write_file_atomically(
        options.folder / "summary.json",
        summary_json(config, federation.clients().size(), result.last, result.totals).dump(2) + "\n");
  }
  write_adapters(options.folder / "adapter", federation, config);
  return result;
}

}  // namespace dfrost
