#include "report/run_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/file.h"
#include "base/suggest.h"
#include "dfrost/error.h"
#include "report/settings.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kKnownSchema = 1;
constexpr std::size_t kLargestFile = std::size_t{64} << 20;

std::string last_component(const fs::path& folder) {
  const auto path = fs::absolute(folder).lexically_normal();
  return (path.has_filename() ? path.filename() : path.parent_path().filename()).string();
}

bool holds_run(const fs::path& folder) {
  std::error_code ignored;
  return std::ranges::any_of(std::array{"metrics.jsonl", "summary.json", "about.json"},
                             [&](const char* name) { return fs::is_regular_file(folder / name, ignored); });
}

std::vector<std::string> runs_below(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (holds_run(entry.path())) names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

std::string hint_at_runs(const fs::path& folder) {
  std::error_code ignored;
  if (fs::is_regular_file(folder, ignored)) return "give the run's folder, not a file in it";
  if (auto below = runs_below(folder); !below.empty()) {
    const std::size_t count = below.size();
    below.resize(std::min<std::size_t>(count, 5));
    return fmt::format("it has runs in it: {}{}", fmt::join(below, ", "), count > 5 ? ", …" : "");
  }
  const auto parent = folder.parent_path().empty() ? fs::path(".") : folder.parent_path();
  if (const auto near = nearest(last_component(folder), runs_below(parent))) {
    return did_you_mean(fmt::format("'{}'", (folder.parent_path() / *near).string()));
  }
  return "'dfrost run' leaves its records in runs/NAME; give such a folder";
}

bool is_count(const Json& json, const char* key) {
  return json.contains(key) && json[key].is_number_unsigned();
}

bool is_newer(const Json& json) {
  return is_count(json, "schema") && json["schema"].get<std::uint64_t>() > kKnownSchema;
}

std::optional<std::uint64_t> planned_rounds(const std::optional<std::string>& config) {
  const auto settings = config ? parse_settings(*config) : std::nullopt;
  if (!settings) return std::nullopt;
  const auto found = settings->find("run.rounds");
  const bool counts = found != settings->end() && found->second.is_number_integer();
  if (!counts || found->second.get<std::int64_t>() < 0) return std::nullopt;
  return found->second.get<std::uint64_t>();
}

}  // namespace

RunReader::RunReader(const fs::path& folder)
    : folder_(folder),
      summary_{folder / "summary.json"},
      about_{folder / "about.json"},
      config_{folder / "config.toml"},
      peer_{folder / "peer.json"},
      metrics_(folder / "metrics.jsonl"),
      merges_(folder / "merges.jsonl") {
  // A site is known by its own folder, not by the one in it.
  const bool is_site = folder.has_parent_path() && run_folder_of(folder.parent_path()) == folder;
  records_.folder = last_component(is_site ? folder.parent_path() : folder);
  update_names_and_problems();
}

bool RunReader::is_run() const { return holds_run(folder_); }

bool RunReader::WholeFile::poll() {
  std::optional<std::string> now;
  try {
    // A link could lead out of the folder, and a pipe never end.
    std::error_code ignored;
    if (fs::is_regular_file(fs::symlink_status(path, ignored))) now = read_text_file(path, kLargestFile);
  } catch (const Error&) {
    // Absent, or not to be read: the same to whoever looks.
  }
  if (now == text) return false;
  text = std::move(now);
  return true;
}

void RunReader::take_lines(JsonLines::News news, const char* file, std::vector<Json>& into,
                           Changes& changes) {
  if (news.restarted) {
    into.clear();
    changes.replaced = true;
  }
  for (const std::size_t number : news.unreadable) {
    line_problems_.push_back(fmt::format("line {} of {} is not a record: it is left out", number, file));
  }
  for (auto& line : news.lines) {
    if (is_count(line, "round")) {
      into.push_back(std::move(line));
    } else {
      line_problems_.push_back(fmt::format("a line of {} has no round: it is left out", file));
    }
  }
}

RunReader::Changes RunReader::poll() {
  Changes changes;
  // What an earlier call had read when it threw is lost.
  const bool again = std::exchange(unfinished_, true);
  changes.replaced = config_.poll();
  if (about_.poll() || again) {
    // Another run in the same place: its files may have the numbers of the old ones.
    metrics_ = JsonLines(folder_ / "metrics.jsonl");
    merges_ = JsonLines(folder_ / "merges.jsonl");
    records_.rounds.clear();
    records_.merges.clear();
    line_problems_.clear();
    changes.replaced = true;
  }
  changes.summary = summary_.poll();
  changes.peer = peer_.poll();
  auto rounds = metrics_.poll();
  auto merges = merges_.poll();  // after the rounds: what belongs to them is then there
  if (rounds.restarted) line_problems_.clear();
  const std::size_t rounds_before = rounds.restarted ? 0 : records_.rounds.size();
  const std::size_t merges_before = merges.restarted ? 0 : records_.merges.size();
  const std::size_t problems_before = records_.problems.size();
  take_lines(std::move(rounds), "metrics.jsonl", records_.rounds, changes);
  take_lines(std::move(merges), "merges.jsonl", records_.merges, changes);
  changes.rounds = records_.rounds.size() - rounds_before;
  changes.merges = records_.merges.size() - merges_before;
  if (changes.any()) update_names_and_problems();
  changes.replaced = changes.replaced || records_.problems.size() != problems_before;
  unfinished_ = false;
  return changes;
}

void RunReader::update_names_and_problems() {
  auto& problems = records_.problems;
  problems.clear();
  const auto read = [&](const WholeFile& file) {
    if (!file.text) return Json();
    auto json = parse_record(*file.text);
    if (!json)
      problems.push_back(fmt::format("{} is not JSON: it is left out", file.path.filename().string()));
    return json.value_or(Json());
  };
  records_.summary = read(summary_);
  records_.about = read(about_);
  records_.peer = read(peer_);
  records_.config = config_.text;
  records_.planned_rounds = planned_rounds(config_.text);
  records_.name = records_.folder;
  for (const auto* json : {&records_.about, &records_.summary}) {
    if (json->contains("name") && (*json)["name"].is_string()) records_.name = (*json)["name"];
  }
  if (records_.peer.contains("name") && records_.peer["name"].is_string())
    records_.name = records_.peer["name"];
  const bool newer = is_newer(records_.summary) || is_newer(records_.about) ||
                     std::ranges::any_of(records_.rounds, is_newer) ||
                     std::ranges::any_of(records_.merges, is_newer);
  if (newer) {
    problems.push_back(
        "written by a newer version of dfrost: what this one knows is shown, and may mean something else");
  }
  constexpr std::size_t kMostShown = 5;
  for (std::size_t i = 0; i < std::min(line_problems_.size(), kMostShown); ++i) {
    problems.push_back(line_problems_[i]);
  }
  if (line_problems_.size() > kMostShown) {
    problems.push_back(fmt::format("… and {} more lines like these", line_problems_.size() - kMostShown));
  }
  // A run of no rounds scores its untrained clients, and is then whole.
  const bool whole_without = records_.planned_rounds == 0 && !records_.summary.is_null();
  if (records_.rounds.empty() && !whole_without) problems.push_back("no round is complete yet");
}

std::vector<std::string> RunReader::problems_of_finished_run() const {
  std::vector<std::string> problems = records_.problems;
  if (metrics_.bytes_of_half_line() > 0) {
    problems.push_back(fmt::format("metrics.jsonl ends in the middle of line {}: {} rounds are shown",
                                   metrics_.lines_read() + 1, records_.rounds.size()));
  }
  if (merges_.bytes_of_half_line() > 0) {
    problems.push_back(fmt::format("merges.jsonl ends in the middle of line {}", merges_.lines_read() + 1));
  }
  const auto& rounds = records_.rounds;
  if (!rounds.empty() && records_.planned_rounds > rounds.back()["round"].get<std::uint64_t>()) {
    problems.push_back(fmt::format("{} of {} rounds are done: if it was stopped, go on with --resume",
                                   rounds.back()["round"].get<std::uint64_t>(), *records_.planned_rounds));
  }
  return problems;
}

fs::path run_folder_of(const fs::path& run_or_site) {
  std::error_code ignored;
  return fs::is_regular_file(run_or_site / "peer.toml", ignored) ? run_or_site / "run" : run_or_site;
}

RunRecords read_run(const fs::path& run_or_site) {
  const fs::path folder = run_folder_of(run_or_site);
  RunReader reader(folder);
  if (!reader.is_run()) {
    throw Error(ErrorCode::not_found, fmt::format("{} holds no run", folder.string()), hint_at_runs(folder))
        .at(folder.string());
  }
  reader.poll();
  RunRecords records = reader.records();
  records.problems = reader.problems_of_finished_run();
  return records;
}

}  // namespace dfrost
