#include "run/run_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/stopwatch.h"
#include "config/toml_file.h"
#include "records/about.h"
#include "records/record_file.h"
#include "records/record_json.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

// Rounds that are done and of which nothing is recorded any more.
void tell_gaps(const KeptRecords& kept, std::size_t done, RunNotes& notes) {
  std::vector<bool> recorded(done + 1, false);
  for (const auto& line : kept.lines) recorded[line.at("round").get<std::size_t>()] = true;
  std::vector<std::size_t> missing;
  for (std::size_t round = 1; round <= done; ++round)
    if (!recorded[round]) missing.push_back(round);
  if (missing.empty()) return;
  constexpr std::size_t kNamed = 8;
  const auto named = std::span(missing).first(std::min(kNamed, missing.size()));
  notes.on_note(
      fmt::format("metrics.jsonl has no record of {} round{} that are done: {}{}; the run goes on without",
                  missing.size(), missing.size() == 1 ? "" : "s", fmt::join(named, ", "),
                  missing.size() > kNamed ? ", …" : ""));
}

void append_merges(const fs::path& path, const RoundRecord& record) {
  std::vector<std::string> lines;
  for (const auto& view : record.merge_views) lines.push_back(to_json(view).dump());
  append_lines(path, lines);
}

}  // namespace

void tell_damage(const fs::path& file, const KeptRecords& kept, RunNotes& notes) {
  if (kept.damaged == 0) return;
  notes.on_note(fmt::format("{}: {} damaged line{} set aside in {}{}", file.filename().string(), kept.damaged,
                            kept.damaged == 1 ? "" : "s", file.filename().string(), kSetAside));
}

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

RunFiles::RunFiles(const RunConfig& config, Options options, const RunTotals& totals, RunNotes& notes)
    : config_(config), options_(std::move(options)), totals_(totals) {
  const std::size_t done = totals.rounds;
  tell_damage(merges(), keep_rounds_until(merges(), done), notes);
  auto kept = keep_rounds_until(metrics(), done);
  tell_damage(metrics(), kept, notes);
  if (!options_.may_skip) tell_gaps(kept, done, notes);
  events_.emplace(options_.folder / "tensorboard" / "events.out.tfevents.dfrost", kept.lines, done);
  if (events_->made_anew())
    notes.on_note("TensorBoard's events were damaged or incomplete: made anew from the records");
  for (auto& line : kept.lines) note(std::move(line));
  // The process may have died between its last record and the summary of it.
  if (!last_.is_null() && last_.at("round") == done) summarize();
}

void RunFiles::note(nlohmann::ordered_json record) {
  if (record.contains("evaluation")) evaluation_ = record["evaluation"];
  last_ = std::move(record);
}

void RunFiles::add(const RoundRecord& record) {
  totals_.rounds = record.round;
  totals_.seconds += record.seconds;
  totals_.sent_bytes += record.sent_bytes;
  totals_.images += record.images;
  // The round's merges first: a line of metrics.jsonl says that the round is complete.
  append_merges(merges(), record);
  note(to_json(record));
  append_lines(metrics(), std::array{last_.dump()});
  events_->add(record.round, scalars_of(last_), seconds_since_1970());
}

void RunFiles::add_untrained(const RoundRecord& record) {
  totals_.seconds += record.seconds;
  note(to_json(record));
}

void RunFiles::summarize() const {
  const auto summary = summary_json(config_, options_.clients, last_, totals_, evaluation_);
  write_file_atomically(options_.folder / "summary.json", summary.dump(2) + "\n");
}

void Saver::after_round(const RunTotals& totals, SavedNodes state) {
  const std::lock_guard lock(mutex_);
  unsaved_ = {totals.rounds, fingerprint_, totals, std::move(state)};
  if (totals.rounds == rounds_ || (every_ > 0 && totals.rounds % every_ == 0)) save_unsaved();
}

std::size_t Saver::save() {
  const std::lock_guard lock(mutex_);
  return save_unsaved();
}

std::size_t Saver::save_unsaved() {
  if (unsaved_) {
    write_savepoint(folder_, *unsaved_);
    saved_ = unsaved_->round;
  }
  unsaved_.reset();
  return saved_;
}

}  // namespace dfrost
