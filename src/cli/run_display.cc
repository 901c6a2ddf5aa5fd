#include "cli/run_display.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "cli/command.h"
#include "cli/terminal.h"
#include "dfrost/error.h"
#include "records/round_warnings.h"

namespace dfrost::cli {

std::string off_index_percent(const RoundRecord& record) {
  return shown(100 * record.off_index_mass, "{:.1f} %");
}

RunDisplay::RunDisplay(bool quiet, std::size_t rounds)
    : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) != 0), rounds_(rounds) {
  listen_to_signals();
}

void RunDisplay::clear_line() const {
  if (terminal_ && !quiet_) tell("\r\033[K");
}

void RunDisplay::on_note(const std::string& text) {
  if (quiet_) return;
  clear_line();
  tell(fmt::format("note: {}\n", text));
}

void RunDisplay::on_warning(const std::string& what, const std::string& hint) {
  clear_line();
  tell_warning(what, hint);
}

void RunDisplay::on_ready(const RunConfig& config, const Simulation& federation, const Backbone& backbone) {
  round_ = first_round_ = federation.rounds_done() + 1;
  start_ = stage_start_ = Clock::now();
  if (quiet_) return;
  std::size_t threads = 0;
  const auto ranks = federation.shares();
  for (const auto& rank : ranks) threads += rank.threads;
  if (ranks.empty()) threads = federation.threads();
  const std::string across = ranks.empty() ? "" : fmt::format(" of {} ranks", ranks.size());
  tell(fmt::format("{}: {} clients, {} training pictures, {} on {} thread{}{}\n", config.method.name,
                   federation.clients().size(), federation.corpus().train.size(),
                   to_string(backbone.precision()), threads, threads == 1 ? "" : "s", across));
  tell(fmt::format("{:>5}  {:>9}  {:>8}  {:>8}  {:>8}  {:>9}  {:>9}\n", "round", "loss", "accuracy",
                   "unmasked", "network", "consensus", "off-index"));
}

void RunDisplay::on_progress(const RoundProgress& progress) {
  if (was_interrupted()) {
    clear_line();
    throw Error(ErrorCode::cancelled,
                fmt::format("stopped in round {}; the rounds before it are saved", round_),
                "go on with the same command and --resume");
  }
  if (quiet_ || !terminal_) return;
  const auto now = Clock::now();
  if (stage_ != progress.stage) {
    stage_ = progress.stage;
    stage_start_ = now;
  }
  if (progress.done != progress.total && now - drawn_ < std::chrono::milliseconds(100)) return;
  drawn_ = now;
  std::string text =
      fmt::format("round {}/{}  {} {}/{}", round_, rounds_, progress.stage, progress.done, progress.total);
  const double in_stage = std::chrono::duration<double>(now - stage_start_).count();
  if (progress.images > 0 && in_stage > 0) {
    text += fmt::format("  {:.1f} images/s", static_cast<double>(progress.images) / in_stage);
  }
  if (const double left = seconds_left(progress, now); left > 0) {
    text += fmt::format("  about {} left", duration(left));
  }
  text += last_figures_;
  draw_over(std::move(text));
}

// Training takes nearly all of a round, so that a client trained is a share of its round done, in the first
// one too: with a large backbone that alone may take hours.
double RunDisplay::seconds_left(const RoundProgress& progress, Clock::time_point now) const {
  const double trained = progress.stage == "train" && progress.total > 0
                             ? static_cast<double>(progress.done) / static_cast<double>(progress.total)
                             : 1.0;
  const double done = static_cast<double>(round_ - first_round_) + trained;
  const double all = static_cast<double>(rounds_ + 1) - static_cast<double>(first_round_);
  return done > 0 ? std::chrono::duration<double>(now - start_).count() / done * (all - done) : 0;
}

void RunDisplay::on_round(const RoundRecord& record) {
  round_ = record.round + 1;
  if (!quiet_) print_row(record);
  warn_once_of_each_kind(record);
}

void RunDisplay::print_row(const RoundRecord& record) {
  clear_line();
  const auto percent = [](double share) { return fmt::format("{:.2f} %", 100 * share); };
  const auto* e = record.evaluation ? &*record.evaluation : nullptr;
  if (e != nullptr) last_accuracy_ = percent(e->accuracy_masked.mean);
  last_figures_ = last_accuracy_.empty() ? "" : fmt::format("  accuracy {}", last_accuracy_);
  last_figures_ += fmt::format("  consensus {:.3g}", record.consensus_error);
  tell(fmt::format("{:>5}  {:>9}  {:>8}  {:>8}  {:>8}  {:>9.3g}  {:>9}\n", record.round,
                   shown(record.train_loss, "{:.4f}"), e != nullptr ? percent(e->accuracy_masked.mean) : "-",
                   e != nullptr ? percent(e->accuracy_unmasked.mean) : "-",
                   e != nullptr ? percent(e->network_accuracy_masked) : "-", record.consensus_error,
                   off_index_percent(record)));
}

// What goes wrong in one round mostly does in the next: a line for each would bury the table.
void RunDisplay::warn_once_of_each_kind(const RoundRecord& record) {
  ++rounds_seen_;
  for (const auto& warning : warnings_of(record)) {
    auto& warned = warned_[warning.many];
    warned.count += warning.count;
    if (++warned.rounds > 1 || quiet_) continue;
    tell_warning(fmt::format("round {}: {}", record.round, warning.text()), warning.hint);
  }
}

void RunDisplay::close(const std::string& log) const {
  for (const auto& [what, warned] : warned_) {
    tell(fmt::format("warning: {}: {} in {} of {} rounds; {} says when\n", what, warned.count, warned.rounds,
                     rounds_seen_, log));
  }
}

}  // namespace dfrost::cli
