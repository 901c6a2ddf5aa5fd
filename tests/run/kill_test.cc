// A run that dies, or is told of an error, at each change that it makes to its files in turn, and goes on: at
// its end every file is what it would have been.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/file_fault.h"
#include "records/event_file.h"
#include "run/small_experiment.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;
using Kind = FileVerdict::Kind;

// Times differ from run to run.
std::string without_seconds(const std::string& text) {
  auto json = nlohmann::ordered_json::parse(text);
  for (const char* name : {"seconds", "total_seconds", "images_per_second"}) json.erase(name);
  return json.dump();
}

std::string lines_without_seconds(const std::string& text) {
  std::string kept;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    kept += without_seconds(text.substr(at, end - at)) + "\n";
    at = end + 1;
  }
  return kept;
}

// Round by round what its scalars are; the time of an event stands in eight bytes at its front, and those
// that tell seconds and speeds go by the tags "seconds/…".
std::string events_without_times(const std::string& file) {
  std::string kept;
  for (std::size_t at = 0; at + 12 <= file.size();) {
    std::uint64_t length = 0;
    std::memcpy(&length, file.data() + at, sizeof length);
    std::string event = file.substr(at + 12, length);
    if (event.size() > 9) event.replace(1, 8, 8, '\0');
    for (std::size_t tag = event.find("seconds/"); tag != std::string::npos;
         tag = event.find("seconds/", tag + 1)) {
      const std::size_t value = event.find('\x15', tag);  // field 2, four bytes
      event.replace(value + 1, 4, 4, '\0');
    }
    kept += event;
    at += 12 + length + 4;
  }
  return kept;
}

using Files = std::map<std::string, std::string>;

// What a run leaves, but for times. The log and the description tell of kills, as they should.
Files files_of(const fs::path& folder) {
  Files files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const auto name = fs::relative(entry.path(), folder).string();
    const auto text = read_text_file(entry.path());
    if (name == "run.log" || name == "about.json" || name.starts_with("checkpoints/")) {
      files[name] = "";
    } else if (name == "metrics.jsonl") {
      files[name] = lines_without_seconds(text);
    } else if (name == "summary.json") {
      files[name] = without_seconds(text);
    } else if (name.starts_with("tensorboard/")) {
      files[name] = events_without_times(text);
    } else {
      files[name] = text;
    }
  }
  return files;
}

struct KilledRun : testing::Test {
  test::SmallExperiment experiment;

  KilledRun() {
    experiment.config.run.rounds = 2;
    experiment.config.data.domains.resize(1);
    experiment.config.evaluate = {.every = 2, .clients = 1, .samples = 4};
  }

  // Runs in a folder of its own, with what `fault` makes of each change. True: it came to its end.
  bool run(const std::string& name, bool resume, const FileFault& fault) const {
    test::StoppingObserver observer;
    const ScopedFileFault scoped(fault);
    try {
      run_experiment(experiment.config, {experiment.folder / name, resume}, observer);
      return true;
    } catch (const DiedInTest&) {
      return false;
    } catch (const Error&) {
      return false;
    }
  }

  // Nothing needs to reach the disk here, and waiting for it takes nearly all of the time.
  static FileVerdict unflushed(FileChange change, const fs::path&) {
    return {change == FileChange::flush ? Kind::skipped : Kind::happens};
  }

  std::vector<FileChange> changes_of_an_unbroken_run() const {
    std::vector<FileChange> changes;
    EXPECT_TRUE(run("whole", false, [&](FileChange change, const fs::path& path) {
      changes.push_back(change);
      return unflushed(change, path);
    }));
    return changes;
  }

  // Of a run that `fault` strikes at its change number `at` and that then goes on.
  Files files_after(std::size_t at, const FileVerdict& verdict) const {
    const std::string name = "struck-" + std::to_string(at);
    std::size_t seen = 0;
    const bool ended = run(name, false, [&](FileChange change, const fs::path& path) {
      const bool dead = verdict.kind == Kind::dies && seen > at;
      return seen++ == at || dead ? verdict : unflushed(change, path);
    });
    EXPECT_FALSE(ended && verdict.kind == Kind::dies) << "outlives change " << at;
    EXPECT_TRUE(run(name, true, unflushed)) << "does not go on after change " << at;
    const auto files = files_of(experiment.folder / name);
    fs::remove_all(experiment.folder / name);
    return files;
  }

  void expect_all_the_same(const std::vector<FileChange>& changes, const FileVerdict& verdict) const {
    const Files expected = files_of(experiment.folder / "whole");
    for (std::size_t at = 0; at < changes.size(); ++at) {
      // To die before a flush is to die before what comes after it.
      if (verdict.kind == Kind::dies && changes[at] == FileChange::flush) continue;
      const Files files = files_after(at, verdict);
      for (const auto& [name, text] : files)
        EXPECT_TRUE(expected.contains(name)) << name << " is left over after change " << at;
      for (const auto& [name, text] : expected) {
        ASSERT_TRUE(files.contains(name)) << name << " is missing after change " << at;
        EXPECT_EQ(files.at(name), text) << name << " differs after change " << at;
      }
    }
  }
};

TEST_F(KilledRun, EndsAsAnUnbrokenOneWhereverItDies) {
  const auto changes = changes_of_an_unbroken_run();
  EXPECT_GT(changes.size(), 80u);
  expect_all_the_same(changes, {Kind::dies});
}

TEST_F(KilledRun, EndsAsAnUnbrokenOneWhateverChangeFails) {
  const auto changes = changes_of_an_unbroken_run();
  expect_all_the_same(changes, {Kind::fails, ENOSPC});
}

}  // namespace
}  // namespace dfrost
