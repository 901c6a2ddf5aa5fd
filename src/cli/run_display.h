// What a run shows while it goes on: on a terminal one line that is drawn again and again above a growing
// table; into a file or a pipe plain lines, one a round. All of it on stderr.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>

#include "run/run.h"

namespace dfrost::cli {

// Of a round's merges, in percent; "-" where nobody sent anything and so nobody merged.
std::string off_index_percent(const RoundRecord& record);

class RunDisplay final : public RunObserver {
 public:
  RunDisplay(bool quiet, std::size_t rounds);

  void on_note(const std::string& text) override;
  void on_warning(const std::string& what, const std::string& hint) override;  // said to the quiet too
  void on_ready(const RunConfig& config, const Simulation& federation, const Backbone& backbone) override;
  void on_progress(const RoundProgress& progress) override;  // throws (cancelled) once told to stop
  void on_round(const RoundRecord& record) override;

  // Sums up what there was to warn of, with where to read more; said to the quiet too.
  void close(const std::string& log) const;

 private:
  using Clock = std::chrono::steady_clock;

  // How often there was a warning of one kind.
  struct Warned {
    std::size_t count = 0, rounds = 0;
  };

  void clear_line() const;
  void print_row(const RoundRecord& record);
  void warn_once_of_each_kind(const RoundRecord& record);
  double seconds_left(const RoundProgress& progress, Clock::time_point now) const;

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
  std::size_t rounds_seen_ = 0;
  std::map<std::string_view, Warned> warned_;
};

}  // namespace dfrost::cli
