// The records of one run, read from its folder as far as they can be: what is damaged, half written, from a
// newer version or missing is said in words, and the rest is there. The folder may be one that is being
// written, is yet to come, or is deleted and made anew. Reads the files that docs/reference/records.md names
// and no others.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "report/json_lines.h"

namespace dfrost {

// NOLINTNEXTLINE(bugprone-exception-escape): nothing is allocated when JSON is moved
struct RunRecords {
  std::string name;    // as the run calls itself, or else its folder
  std::string folder;  // the last component of the path
  Json summary;        // null where there is none, or none that can be read
  Json about;
  Json peer;                 // how a site of a federation is; null for any other run
  std::vector<Json> rounds;  // lines of metrics.jsonl
  std::vector<Json> merges;  // lines of merges.jsonl
  std::optional<std::string> config;
  std::optional<std::uint64_t> planned_rounds;  // run.rounds of the config
  std::vector<std::string> problems;            // for people
};

class RunReader {
 public:
  explicit RunReader(const std::filesystem::path& folder);

  // What poll() found.
  struct Changes {
    bool replaced = false;   // forget what was there: everything may differ
    std::size_t rounds = 0;  // so many at the end of `rounds` are new
    std::size_t merges = 0;
    bool summary = false;
    bool peer = false;
    bool any() const { return replaced || rounds > 0 || merges > 0 || summary || peer; }
  };
  // Where it throws, for want of memory say, the next call reads everything again.
  Changes poll();

  const RunRecords& records() const { return records_; }
  bool is_run() const;  // something of a run was found
  // Says what is wrong with a run that nobody is writing: a half line at its end, rounds that are missing.
  std::vector<std::string> problems_of_finished_run() const;

 private:
  struct WholeFile {
    std::filesystem::path path;
    std::optional<std::string> text = {};
    bool poll();  // whether it changed
  };

  void update_names_and_problems();
  void take_lines(JsonLines::News news, const char* file, std::vector<Json>& into, Changes& changes);

  std::filesystem::path folder_;
  WholeFile summary_, about_, config_, peer_;
  JsonLines metrics_, merges_;
  std::vector<std::string> line_problems_;
  RunRecords records_;
  bool unfinished_ = false;  // poll() did not come to its end
};

// The folder of a run, given that or the folder of a site, which has its run in it.
std::filesystem::path run_folder_of(const std::filesystem::path& run_or_site);

// A run that is there. Throws (not_found) where the folder holds none, with a hint at those nearby.
RunRecords read_run(const std::filesystem::path& folder);

}  // namespace dfrost
