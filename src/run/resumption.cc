#include "run/resumption.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/settings_identity.h"
#include "config/toml_file.h"
#include "dfrost/error.h"
#include "records/record_file.h"

namespace dfrost {

namespace fs = std::filesystem;
namespace {

// NAME.PROCESS.tmp, as write_file_atomically() calls what it has not finished.
bool is_half_written(const fs::path& path) {
  const std::string process = path.stem().extension().string();
  return path.extension() == ".tmp" && process.size() > 1 &&
         process.find_first_not_of("0123456789", 1) == std::string::npos;
}

}  // namespace

void refuse_existing_run(const fs::path& folder) {
  if (!fs::exists(folder / "metrics.jsonl")) return;
  throw Error(ErrorCode::already_exists, fmt::format("{} already holds a run", folder.string()),
              "go on with it by --resume, or give another name by --set run.name=…")
      .at(folder.string());
}

Error other_run(const fs::path& folder, const RunConfig& config, Precision precision) {
  constexpr const char* kStartAnew = "start a new run under another name by --set run.name=…";
  std::optional<SettingChange> change;
  try {
    change = first_change(load_config(folder / "config.toml"), config, precision);
  } catch (const Error&) {
    return {ErrorCode::failed_precondition, "the checkpoint belongs to a run with other settings or files",
            fmt::format("resume with what it was started with, or {}", kStartAnew)};
  }
  if (change) {
    return {ErrorCode::failed_precondition,
            fmt::format("the checkpoint belongs to a run with other settings: {} was {} and is now {}",
                        change->key, change->before, change->now),
            fmt::format("resume with the settings of its config.toml, or {}", kStartAnew)};
  }
  return {ErrorCode::failed_precondition,
          "the run's settings are the same, but its pictures, its backbone or a listed file have changed "
          "since, or dfrost has",
          fmt::format("put back what it was started with, or {}", kStartAnew)};
}

std::optional<Savepoint> savepoint_to_resume(const fs::path& folder, RunNotes& notes) {
  auto found = newest_savepoint(folder / "checkpoints");
  for (const auto& damaged : found.damaged) notes.on_note("passed over a damaged checkpoint: " + damaged);
  if (!found.checkpoint && !found.damaged.empty()) {
    // Starting over would wipe the records of all those rounds.
    throw Error(ErrorCode::data_loss, "none of the run's checkpoints can be read: " + found.damaged.front(),
                "start anew under another name by --set run.name=…; what the run has recorded stays")
        .at((folder / "checkpoints").string());
  }
  return std::move(found.checkpoint);
}

// What a process that was killed while it wrote left. The folder is locked: nobody writes.
void remove_leftovers(const fs::path& folder) {
  std::vector<fs::path> leftovers;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (is_half_written(entry.path())) leftovers.push_back(entry.path());
  }
  for (const auto& path : leftovers) fs::remove(path);
}

void require_nothing_to_lose(const fs::path& folder, const RunConfig& config, Precision precision) {
  std::size_t recorded = 0;
  for (const auto& record : read_records(folder / "metrics.jsonl"))
    recorded = std::max(recorded, record.at("round").get<std::size_t>());
  if (recorded == 0) return;
  // A process that died before the first checkpoint has recorded no more than this.
  const std::size_t unsaved =
      config.run.checkpoint_every == 0 ? config.run.rounds : config.run.checkpoint_every;
  if (recorded > unsaved) {
    throw Error(ErrorCode::failed_precondition,
                fmt::format("{} holds the records of {} rounds, but no checkpoint to go on from",
                            folder.string(), recorded),
                "put its folder 'checkpoints' back, or start anew under another name by --set run.name=…; "
                "what the run "
                "has recorded stays")
        .at((folder / "checkpoints").string());
  }
  if (first_change(load_config(folder / "config.toml"), config, precision))
    throw other_run(folder, config, precision);
}

}  // namespace dfrost
