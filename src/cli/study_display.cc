#include "cli/study_display.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/command.h"
#include "cli/terminal.h"
#include "dfrost/error.h"

namespace dfrost::cli {

StudyDisplay::StudyDisplay(bool quiet, std::vector<std::string> labels, const StudyPlan& plan,
                           std::vector<std::size_t> to_do, std::size_t side_by_side)
    : quiet_(quiet),
      terminal_(::isatty(STDERR_FILENO) != 0),
      plan_(plan),
      labels_(std::move(labels)),
      to_do_(std::move(to_do)),
      side_by_side_(static_cast<double>(side_by_side)) {
  listen_to_signals();
  const std::size_t done = plan.runs.size() - to_do_.size();
  if (!quiet_ && done > 0) tell(fmt::format("{} of {} runs are done already\n", done, plan.runs.size()));
}

// Runs of unknown size count alike.
double StudyDisplay::work_of(std::size_t run) const { return plan_.runs[run].config.work().value_or(1); }

void StudyDisplay::on_run(std::size_t run) {
  place_ = static_cast<std::size_t>(std::ranges::find(to_do_, run) - to_do_.begin());
  round_ = first_round_ = 0;
  last_accuracy_ = -1;
  run_start_ = Clock::now();
}

void StudyDisplay::on_run_end(std::size_t run, const std::string& failure) {
  work_done_ += work_of(run);
  if (terminal_ && !quiet_) tell("\r\033[K");
  const auto beginning = fmt::format("[{}/{}] {}", place_ + 1, to_do_.size(), labels_[run]);
  if (!failure.empty()) return tell_warning(fmt::format("{} failed: {}", beginning, failure), "");
  if (quiet_) return;
  const double seconds = std::chrono::duration<double>(Clock::now() - run_start_).count();
  const auto accuracy = last_accuracy_ < 0 ? std::string() : fmt::format(", {:.2f} %", 100 * last_accuracy_);
  const auto left = place_ + 1 < to_do_.size() ? time_left(0) : std::string();
  tell(fmt::format("{}: {}{}{}\n", beginning, duration(seconds), accuracy, left));
}

// Of a run: what is said of one among hundreds nobody reads; its folder's run.log has it.
void StudyDisplay::on_note(const std::string& /*text*/) {}
void StudyDisplay::on_warning(const std::string& /*what*/, const std::string& /*hint*/) {}

void StudyDisplay::on_ready(const RunConfig& /*config*/, const Simulation& federation,
                            const Backbone& /*backbone*/) {
  round_ = first_round_ = federation.rounds_done();
}

std::string StudyDisplay::time_left(double share_of_run) const {
  double done = work_done_, left = 0;
  for (std::size_t i = place_; i < to_do_.size(); ++i) left += work_of(to_do_[i]);
  if (share_of_run == 0) {
    left -= work_of(to_do_[place_]);  // it has ended
  } else {
    done += share_of_run * work_of(to_do_[place_]);
    left -= share_of_run * work_of(to_do_[place_]);
  }
  if (done <= 0) return {};
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  return fmt::format(", about {} left", duration(seconds / done * left / side_by_side_));
}

void StudyDisplay::on_progress(const RoundProgress& progress) {
  if (was_interrupted()) {
    if (terminal_ && !quiet_) tell("\r\033[K");
    throw Error(ErrorCode::cancelled, "stopped; what is done is kept", "go on with the same command");
  }
  const auto now = Clock::now();
  if (quiet_ || !terminal_ || now - drawn_ < std::chrono::milliseconds(100)) return;
  drawn_ = now;
  const std::size_t rounds = plan_.runs[to_do_[place_]].config.run.rounds;
  const double in_round = progress.total == 0 || progress.stage != "train"
                              ? 1
                              : static_cast<double>(progress.done) / static_cast<double>(progress.total);
  const double all = static_cast<double>(std::max<std::size_t>(1, rounds - std::min(rounds, first_round_)));
  const double share = std::clamp((static_cast<double>(round_ - first_round_) + in_round) / all, 1e-6, 1.0);
  draw_over(fmt::format("[{}/{}] {}: round {}/{}{}", place_ + 1, to_do_.size(), labels_[to_do_[place_]],
                        round_ + 1, rounds, time_left(share)));
}

void StudyDisplay::on_round(const RoundRecord& record) {
  round_ = record.round;
  if (record.evaluation) last_accuracy_ = record.evaluation->accuracy_masked.mean;
}

}  // namespace dfrost::cli
