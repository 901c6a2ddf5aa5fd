// What a run shows while it goes on: on a terminal one line that is drawn again and again above a growing
// table; into a file or a pipe plain lines, one a round. All of it on stderr.
#pragma once

#include <chrono>
#include <string>

#include "run/run.h"

namespace dfrost::cli {

class RunDisplay final : public RunObserver {
 public:
  RunDisplay(bool quiet, std::size_t rounds);

  void on_note(const std::string& text) override;
  void on_ready(const RunConfig& config, const Federation& federation, const Backbone& backbone) override;
  void on_progress(const Federation::Progress& progress) override;  // throws (cancelled) once told to stop
  void on_round(const RoundRecord& record) override;

 private:
  using Clock = std::chrono::steady_clock;

  void clear_line() const;
  double seconds_left(const Federation::Progress& progress, Clock::time_point now) const;

  bool quiet_;
  bool terminal_;
  std::size_t rounds_;
  std::size_t round_ = 1;  // under way
  std::size_t first_round_ = 1;
  Clock::time_point start_ = Clock::now();
  Clock::time_point stage_start_ = Clock::now();
  Clock::time_point drawn_;
  std::string stage_;
  std::string last_accuracy_;  // not every round is scored
  std::string last_figures_;   // behind the moving line
};

}  // namespace dfrost::cli
