#include "run/resumption.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "base/json.h"
#include "config/settings_identity.h"
#include "config/toml_file.h"
#include "dfrost/error.h"
#include "records/record_file.h"

namespace dfrost {

namespace fs = std::filesystem;

void refuse_existing_run(const fs::path& folder) {
  if (!fs::exists(folder / "metrics.jsonl")) return;
  throw Error(
      ErrorCode::already_exists, fmt::format("{} already holds a run", folder.string()),
      "go on with it by --resume, move it aside by --start-over, or give another name by --set run.name=…")
      .at(folder.string());
}

void move_run_aside(const fs::path& folder, RunNotes& observer) {
  if (!fs::exists(folder)) return;
  const FolderLock lock(folder);
  const fs::path plain = folder.has_filename() ? folder : folder.parent_path();  // a slash at the end
  fs::path aside;
  for (int number = 1; aside.empty() || fs::exists(aside); ++number)
    aside = fmt::format("{}-old-{}", plain.string(), number);
  rename_file(plain, aside);
  observer.on_note(fmt::format("the run that was there is now {}", aside.string()));
}

// The settings that the run was begun with. Its precision, which config.toml may leave to the machine, is
// what about.json says it really was: another machine, or version, may choose another.
RunConfig settings_at_its_start(const fs::path& folder) {
  RunConfig config = load_config(folder / "config.toml");
  if (config.backbone.precision == Precision::automatic && fs::exists(folder / "about.json")) {
    const auto about = read_json_file(folder / "about.json");
    const nlohmann::json::json_pointer place("/machine/precision");
    if (about.contains(place) && about.at(place).is_string())
      config.backbone.precision = parse_precision(about.at(place).get<std::string>());
  }
  return config;
}

Error other_run(const fs::path& folder, const RunConfig& config, Precision precision) {
  constexpr const char* kStartAnew = "start a new run under another name by --set run.name=…";
  std::optional<SettingChange> change;
  try {
    change = first_change(settings_at_its_start(folder), config, precision);
  } catch (const Error&) {
    return {ErrorCode::failed_precondition, "the checkpoint belongs to a run with other settings or files",
            fmt::format("resume with what it was started with, or {}", kStartAnew)};
  }
  if (change && change->key == "backbone.precision") {
    return {ErrorCode::failed_precondition,
            fmt::format("the run was begun in {}, and would go on in {}", change->before, change->now),
            fmt::format("go on by --set backbone.precision={}, or {}", change->before, kStartAnew)};
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
    throw Error(
        ErrorCode::data_loss, "none of the run's checkpoints can be read: " + found.damaged.front(),
        "start anew by --start-over instead of --resume; what the run has recorded stays, under another name")
        .at((folder / "checkpoints").string());
  }
  return std::move(found.checkpoint);
}

// What a process that was killed while it wrote left. The folder is locked: nobody writes.
void remove_leftovers(const fs::path& folder) {
  std::vector<fs::path> leftovers;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (is_unfinished_file(entry.path())) leftovers.push_back(entry.path());
  }
  for (const auto& path : leftovers) remove_file(path);
}

void require_nothing_to_lose(const fs::path& folder, const RunConfig& config, Precision precision,
                             RunNotes& observer) {
  std::size_t recorded = 0;
  for (const auto& record : read_records(folder / "metrics.jsonl"))
    recorded = std::max(recorded, record.at("round").get<std::size_t>());
  if (recorded == 0) return;
  // A process that died before the first checkpoint has recorded no more than this. Where there is none
  // before the end, what is recorded may be hours of work: that is for the user to say.
  if (recorded > config.run.checkpoint_every) {
    throw Error(
        ErrorCode::failed_precondition,
        fmt::format("{} holds the records of {} rounds, but no checkpoint to go on from", folder.string(),
                    recorded),
        "put its folder 'checkpoints' back, or start anew by --start-over instead of --resume; what the "
        "run has recorded stays, under another name")
        .at((folder / "checkpoints").string());
  }
  if (first_change(load_config(folder / "config.toml"), config, precision))
    throw other_run(folder, config, precision);
  observer.on_note(fmt::format("stopped before its first checkpoint: {} round{} again from the start",
                               recorded, recorded == 1 ? " is computed" : "s are computed"));
}

}  // namespace dfrost
