// A run's folder as an earlier process may have left it: what is in it is only ever added to, or gone on
// from.
#pragma once

#include <filesystem>
#include <optional>

#include "config/config.h"
#include "dfrost/error.h"
#include "records/savepoint_file.h"
#include "run/run_notes.h"

namespace dfrost {

// Throws (already_exists) where there is a run.
void refuse_existing_run(const std::filesystem::path& folder);

// Renames the folder of an earlier run to NAME-old-1, or the first such name that is free, and says so.
// Nothing where there is none; throws (failed_precondition) where a process writes into it.
void move_run_aside(const std::filesystem::path& folder, RunNotes& observer);

// Why a checkpoint is of another run: what the folder's config.toml says tells settings from files.
Error other_run(const std::filesystem::path& folder, const RunConfig& config, Precision precision);

// The newest checkpoint that can be read; throws (data_loss) where there are some and none can.
std::optional<Savepoint> savepoint_to_resume(const std::filesystem::path& folder, RunNotes& notes);

// Removes what a process that was killed while it wrote left. The folder is locked: nobody writes.
void remove_leftovers(const std::filesystem::path& folder);

// For a run that is to go on and has no checkpoint: beginning again would wipe its records. Throws
// (failed_precondition) unless they are of rounds that come before the first checkpoint of these very
// settings, and will be computed again, which it says.
void require_nothing_to_lose(const std::filesystem::path& folder, const RunConfig& config,
                             Precision precision, RunNotes& observer);

}  // namespace dfrost
