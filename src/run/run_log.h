// run.log: what was decided, what was done and when, a line each with the time in UTC, for whoever asks later
// what a run did. It only grows: a resumed run goes on in the same file. Stands between a run and who watches
// it, and passes everything on.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "run/run.h"

namespace dfrost {

// The file itself.
class LogFile {
 public:
  explicit LogFile(std::filesystem::path file) : file_(std::move(file)) {}

  // One line. What is written before there is a folder is kept until there is one.
  void write(std::string_view text);
  // For the end of a run that fails: a log that cannot be written must not hide why.
  void write_if_possible(std::string_view text) noexcept;
  // From here on there is a folder to write in.
  void open();

 private:
  std::filesystem::path file_;
  bool open_ = false;
  std::string waiting_;
};

// A round in words.
std::string describe_round(const RoundRecord& record);

class RunLog final : public RunObserver {
 public:
  RunLog(std::filesystem::path file, RunObserver& watcher);

  void on_note(const std::string& text) override;
  void on_warning(const std::string& what, const std::string& hint) override;
  void on_ready(const RunConfig& config, const Simulation& federation, const Backbone& backbone) override;
  void on_progress(const RoundProgress& progress) override { watcher_.on_progress(progress); }
  void on_round(const RoundRecord& record) override;

  void write(std::string_view text) { file_.write(text); }
  void write_if_possible(std::string_view text) noexcept { file_.write_if_possible(text); }
  void open() { file_.open(); }

 private:
  LogFile file_;
  RunObserver& watcher_;
};

}  // namespace dfrost
