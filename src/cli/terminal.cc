#include "cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>
#include <csignal>

#include "cli/command.h"

namespace dfrost::cli {
namespace {

// What a signal's handler may touch is what needs no lock.
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void note_interrupt(int signal) {
  interrupted = true;
  std::signal(signal, SIG_DFL);
}

// 0 where the terminal does not say.
std::size_t terminal_columns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

void listen_to_signals() {
  // A shell that starts us in the background has this one ignored; kill -INT is meant all the same.
  std::signal(SIGINT, note_interrupt);
  std::signal(SIGTERM, note_interrupt);
  // Whoever started us under nohup wants us to outlive the terminal.
  if (std::signal(SIGHUP, note_interrupt) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

bool was_interrupted() { return interrupted; }

std::string duration(double seconds) {
  const long whole = std::lround(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02} h", whole / 3600, whole / 60 % 60);
}

void draw_over(std::string text) {
  // Cut off at the edge of a narrow terminal: a line that wraps could not be drawn over. Where its width is
  // not known the terminal does the cutting, less neatly.
  if (const std::size_t columns = terminal_columns(); columns > 0)
    text.resize(std::min(text.size(), columns));
  tell(fmt::format("\r\033[K\033[?7l{}\033[?7h", text));
}

std::string shell_word(const std::string& text) {
  const bool plain = !text.empty() && std::ranges::all_of(text, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("._+-/=,:@%").find(c) != std::string_view::npos;
  });
  if (plain) return text;
  std::string quoted(1, '\'');
  for (const char c : text) {
    if (c == '\'') quoted += "'\\'";  // out of the quotes, the character, and in again
    quoted += c;
  }
  quoted += '\'';
  return quoted;
}

}  // namespace dfrost::cli
