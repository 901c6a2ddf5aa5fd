#include "cli/progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace dfrost::cli {
namespace {

constexpr std::size_t kBarSteps = 200;  // redraws of a bar, so that a fast download does not flicker
constexpr std::size_t kLineSteps = 10;
constexpr std::size_t kBarWidth = 30;

}  // namespace

ProgressBar::ProgressBar() : ProgressBar(stderr, ::isatty(STDERR_FILENO) == 1) {}

std::string format_bytes(std::size_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  if (bytes < 1'000'000) return fmt::format("{:.0f} kB", static_cast<double>(bytes) / 1e3);
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

void ProgressBar::show(const DownloadProgress& progress) {
  const std::size_t steps = terminal_ ? kBarSteps : kLineSteps;
  const std::size_t total = progress.total_bytes;
  const std::size_t step =
      total > 0 ? progress.done_bytes * steps / total : progress.done_bytes >> 23;  // every 8 MiB
  if (progress.name == name_ && step == last_step_) return;
  if (progress.name != name_) finish();
  name_ = progress.name;
  last_step_ = step;
  drawn_ = true;
  const std::string amount =
      total > 0 ? fmt::format("{} of {}", format_bytes(progress.done_bytes), format_bytes(total))
                : format_bytes(progress.done_bytes);
  if (!terminal_) {
    draw(fmt::format("{}: {}\n", progress.name, amount));
  } else {
    const std::size_t filled = total > 0 ? progress.done_bytes * kBarWidth / total : 0;
    draw(fmt::format("\r\x1b[K{:<32} [{}{}] {}", progress.name, std::string(filled, '#'),
                     std::string(kBarWidth - std::min(filled, kBarWidth), '.'), amount));
  }
}

// A bar that cannot be drawn is no reason to end a download.
void ProgressBar::draw(const std::string& text) const {
  std::fputs(text.c_str(), to_);
  std::fflush(to_);
}

void ProgressBar::finish() {
  if (drawn_ && terminal_) draw("\n");
  drawn_ = false;
  name_.clear();
}

}  // namespace dfrost::cli
