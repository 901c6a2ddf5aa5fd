#include "run/run_log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

#include "base/file.h"
#include "records/round_warnings.h"

namespace dfrost {
namespace {

std::string timed(std::string_view text) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}  {}\n", fmt::gmtime(std::time(nullptr)), text);
}

}  // namespace

std::string describe_round(const RoundRecord& r) {
  std::string text = fmt::format("round {}: loss {}, consensus error {}, off-index mass {}", r.round,
                                 shown(r.train_loss, "{:.4f}"), shown(r.consensus_error, "{:.4g}"),
                                 shown(r.off_index_mass, "{:.4g}"));
  if (const auto& e = r.evaluation) {
    text += fmt::format(", accuracy {:.2f} % masked, {:.2f} % unmasked, network model {} %",
                        100 * e->accuracy_masked.mean, 100 * e->accuracy_unmasked.mean,
                        shown(100 * e->network_accuracy_masked, "{:.2f}"));
  }
  return text + fmt::format("; {:.1f} s, {:.1f} MB sent", r.seconds.total(),
                            static_cast<double>(r.sent_bytes) / 1e6);
}

RunLog::RunLog(std::filesystem::path file, RunObserver& watcher)
    : file_(std::move(file)), watcher_(watcher) {}

void LogFile::write(std::string_view text) {
  if (!open_) {
    waiting_ += timed(text);
    return;
  }
  append_to_file(file_, timed(text));
}

void LogFile::write_if_possible(std::string_view text) noexcept {
  try {
    if (open_) write(text);
  } catch (...) {  // the run already ends with a better reason
  }
}

void LogFile::open() {
  open_ = true;
  if (!waiting_.empty()) append_to_file(file_, waiting_);
  waiting_.clear();
}

void RunLog::on_note(const std::string& text) {
  write(text);
  watcher_.on_note(text);
}

void RunLog::on_warning(const std::string& what, const std::string& hint) {
  write(fmt::format("warning: {}; {}", what, hint));
  watcher_.on_warning(what, hint);
}

void RunLog::on_ready(const RunConfig& config, const Simulation& federation, const Backbone& backbone) {
  write(fmt::format("{}: method {}, seed {}, {} clients, {} training pictures of {} domains, rounds {} to {}",
                    config.run.name, config.method.name, config.run.seed, federation.clients().size(),
                    federation.corpus().train.size(), federation.corpus().domains.size(),
                    federation.rounds_done() + 1, config.run.rounds));
  write(fmt::format("backbone {}, {} on {} thread{}", config.backbone.path.string(),
                    to_string(backbone.precision()), federation.threads(),
                    federation.threads() == 1 ? "" : "s"));
  watcher_.on_ready(config, federation, backbone);
}

void RunLog::on_round(const RoundRecord& record) {
  write(describe_round(record));
  for (const auto& warning : warnings_of(record)) {
    write(fmt::format("warning: round {}: {}", record.round, warning.text()));
  }
  watcher_.on_round(record);
}

}  // namespace dfrost
