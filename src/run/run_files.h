// The files of a run's folder that grow with its rounds: metrics.jsonl, merges.jsonl, TensorBoard's events,
// summary.json and the checkpoints. Each round is on disk before the next. Killed at any moment, a run goes
// on from its last checkpoint, and what was recorded after it is dropped and computed again.
#pragma once

#include <cstddef>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "config/config.h"
#include "records/event_file.h"
#include "records/record.h"
#include "records/savepoint_file.h"
#include "run/run_notes.h"

namespace dfrost {

// A run that goes on is described by the command that it goes on with, which makes all of it again.
void describe_run(const RunConfig& config, const std::filesystem::path& folder, nlohmann::ordered_json about,
                  std::optional<std::size_t> resumed_after);

// Says where lines of a file of records were damaged.
struct KeptRecords;
void tell_damage(const std::filesystem::path& file, const KeptRecords& kept, RunNotes& notes);

class RunFiles {
 public:
  struct Options {
    std::filesystem::path folder;
    std::size_t clients = 0;  // for the summary
    bool may_skip = false;    // rounds without a record are nothing to tell of: a peer may jump over some
  };
  // Keeps the records of the rounds up to totals.rounds, which are done.
  RunFiles(const RunConfig& config, Options options, const RunTotals& totals, RunNotes& notes);

  // A round that is done.
  void add(const RoundRecord& record);
  // What there is to say of a run of no rounds.
  void add_untrained(const RoundRecord& record);
  void skip_to(std::size_t round) { totals_.rounds = round; }
  void summarize() const;

  const RunTotals& totals() const { return totals_; }

 private:
  const RunConfig& config_;
  Options options_;
  RunTotals totals_;
  nlohmann::ordered_json last_;        // the last round's line
  nlohmann::ordered_json evaluation_;  // of the last round that had one
  std::optional<EventFile> events_;

  std::filesystem::path metrics() const { return options_.folder / "metrics.jsonl"; }
  std::filesystem::path merges() const { return options_.folder / "merges.jsonl"; }
  void note(nlohmann::ordered_json record);
};

// Says when a round's state is saved, and sees to it that a stop loses no round that is done, however rarely
// that is. Thread-safe: a stop may come while the next round is computed.
class Saver {
 public:
  // `every`: rounds; 0: only the last one, `rounds`. `done`: those that an earlier process saved.
  Saver(std::filesystem::path folder, std::string fingerprint, std::size_t every, std::size_t rounds,
        std::size_t done = 0)
      : folder_(std::move(folder)),
        fingerprint_(std::move(fingerprint)),
        every_(every),
        rounds_(rounds),
        saved_(done) {}

  // The state after round totals.rounds.
  void after_round(const RunTotals& totals, SavedNodes state);
  // The last round that is saved now: 0 where there is none.
  std::size_t save();

 private:
  std::size_t save_unsaved();

  std::mutex mutex_;
  std::filesystem::path folder_;
  std::string fingerprint_;
  std::size_t every_, rounds_;
  std::size_t saved_;
  std::optional<Savepoint> unsaved_;  // of the last round, which the one under way changes
};

}  // namespace dfrost
