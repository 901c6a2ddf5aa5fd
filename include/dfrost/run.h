// Experiments, run and read: a whole federation on one machine, as `dfrost run` runs it, watched by a program
// of yours; and the records of a run that was made before, by whomever. The result is a function of the
// config and the data, bit for bit, whatever the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dfrost/backbone.h"
#include "dfrost/config.h"
#include "dfrost/figures.h"
#include "dfrost/image.h"
#include "dfrost/merge.h"

namespace dfrost {

struct LabelledPicture {
  ImageView picture;
  std::size_t label = 0;  // an index into RunData::class_names
};

// Pictures of a program's own: one domain, divided among clients already. A run copies them; [data] and
// [partition] of its config then say nothing.
struct RunData {
  std::string name = "own";
  std::vector<std::string> class_names = {};
  std::vector<std::vector<LabelledPicture>> clients = {};  // what each trains on
  std::vector<LabelledPicture> test = {};
};

struct RunOptions {
  std::filesystem::path folder = {};      // of the records; empty: runs/NAME, by run.name
  bool resume = false;                    // go on where an earlier run stopped
  std::string command = {};               // what makes all of this run, for the records; empty: found out
  bool start_over = false;                // an earlier run that is there is moved aside, whole
  std::optional<CustomMerge> merge = {};  // instead of merge.kind
  std::optional<RunData> data = {};       // instead of data.domains
};

// The federation, as it stands before its first round here.
struct RunStart {
  std::filesystem::path folder;
  std::size_t rounds = 0;       // that it is to have
  std::size_t rounds_done = 0;  // of a run that goes on
  std::size_t clients = 0;
  std::size_t train_pictures = 0;
  std::size_t test_pictures = 0;
  std::size_t classes = 0;
  Precision precision = Precision::fp32;
};

struct Progress {
  std::string_view stage;  // "train", "merge", "evaluate"
  std::size_t done = 0;    // clients
  std::size_t total = 0;
  std::size_t images = 0;  // seen in this stage so far
};

struct Round {
  std::size_t round = 0;  // from 1; 0: before any training
  FigureValues figures = {};

  std::optional<double> figure(std::string_view which) const { return figures.get(which); }
};

// Who watches: override what you care for. Calls come one at a time, from any thread. Whatever a call throws
// ends the run and comes out of run(); with Error{ErrorCode::cancelled, …} every round that was done is saved
// first, so that the run can be resumed.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_note(const std::string& /*text*/) {}  // for people: what was decided or skipped
  virtual void on_warning(const std::string& /*what*/, const std::string& /*hint*/) {}  // what may be wrong
  virtual void on_ready(const RunStart& /*start*/) {}
  virtual void on_progress(const Progress& /*progress*/) {}
  virtual void on_round(const Round& /*round*/) {}
};

// What summary.json holds.
struct RunSummary {
  std::filesystem::path folder;
  std::string name;
  std::string method;
  std::uint64_t seed = 0;
  std::size_t rounds = 0;  // done
  std::size_t clients = 0;
  // Of the last round, scores of the last that was scored; seconds, bytes and pictures are of all rounds.
  FigureValues figures = {};

  std::optional<double> figure(std::string_view which) const { return figures.get(which); }
};

// Runs the rounds that are missing. The folder then holds records, checkpoints and adapters
// (docs/reference/records.md). Throws (already_exists) where it holds a run that is not to be resumed.
RunSummary run(const Config& config, const RunOptions& options, Observer& observer);
RunSummary run(const Config& config, const RunOptions& options = {});

struct LoadedRun {
  std::filesystem::path folder;
  Config config;
  std::vector<Round> rounds = {};          // those that are complete
  std::optional<RunSummary> summary = {};  // from the first complete round on
  bool finished = false;                   // all rounds are done and adapters are written
  // For dfrost::Adapter; there once the run has come to its end.
  std::optional<std::filesystem::path> network_adapter = {};
  std::vector<std::filesystem::path> client_adapters = {};  // by client
};

// A run's folder, finished or stopped. Throws (not_found) where there is none, (data_loss) where its records
// cannot be read.
LoadedRun load_run(const std::filesystem::path& folder);

}  // namespace dfrost
