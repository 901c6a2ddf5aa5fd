#include "cli/peer_display.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "base/json.h"
#include "cli/command.h"
#include "records/record_json.h"

namespace dfrost::cli {
namespace {

constexpr std::size_t kMostMembersShown = 16;

std::string in_percent(double share) { return shown(100 * share, "{:.2f} %"); }

std::size_t columns_of_stderr() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// Bytes of UTF-8 that take `columns` places at most.
std::string cut(std::string text, std::size_t columns) {
  if (columns == 0) return text;
  std::size_t places = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) == 0x80) continue;
    if (places++ == columns) return text.substr(0, i);
  }
  return text;
}

std::string letters_text(const PeerStatus& status, const RoundRecord& record) {
  const auto neighbours =
      static_cast<std::size_t>(std::ranges::count_if(status.members, &MemberStatus::neighbour));
  const std::size_t missing = std::min(neighbours, record.missing_messages + record.refused_messages);
  return fmt::format("{} of {}", neighbours - missing, neighbours);
}

}  // namespace

std::string member_line(const MemberStatus& member, std::size_t name_width) {
  const char* link = member.alive ? "alive" : member.linked ? "silent" : "away";
  std::string line =
      fmt::format("{} {:<{}}  {:<6}  {:<12}  {:<8}", member.alive ? "●" : "○", member.name, name_width, link,
                  member.round ? fmt::format("round {}", *member.round) : "", member.stage);
  if (member.awaited) {
    line += "  waited for";
  } else if (member.neighbour) {
    line += "  neighbour";
  }
  if (!member.trouble.empty() && !member.alive) line += "  " + member.trouble;
  return line;
}

PeerDisplay::PeerDisplay(LogForm form)
    : form_(form), terminal_(form == LogForm::text && ::isatty(STDERR_FILENO) != 0) {}

void PeerDisplay::clear() {
  if (drawn_lines_ > 0) tell(fmt::format("\033[{}A\033[J", drawn_lines_));
  drawn_lines_ = 0;
}

void PeerDisplay::close() { drawn_lines_ = 0; }

void PeerDisplay::say(const char* event, const std::string& text) {
  if (form_ == LogForm::json) {
    const auto now = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    tell(dump_json({{"time", now}, {"event", event}, {"text", text}}) + "\n");
    return;
  }
  clear();
  tell(fmt::format("{}: {}\n", event, text));
}

void PeerDisplay::on_note(const std::string& text) { say("note", text); }

void PeerDisplay::on_warning(const std::string& what, const std::string& hint) {
  if (form_ == LogForm::json) return say("warning", hint.empty() ? what : what + "; " + hint);
  clear();
  tell_warning(what, hint);
}

void PeerDisplay::on_round(const RoundRecord& record, const PeerStatus& status) {
  if (form_ == LogForm::json) {
    auto json = to_json(record);
    json.erase("graph");
    const auto now = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    tell(dump_json({{"time", now}, {"event", "round"}, {"record", json}}) + "\n");
    return;
  }
  clear();
  if (!has_heading_)
    tell(fmt::format("{:>9}  {:>8}  {:>8}  {:>8}  {:>9}  {:>8}\n", "round", "loss", "accuracy", "letters",
                     "off-index", "seconds"));
  has_heading_ = true;
  tell(fmt::format("{:>9}  {:>8}  {:>8}  {:>8}  {:>9}  {:>8.1f}\n",
                   fmt::format("{}/{}", record.round, status.rounds), shown(record.train_loss, "{:.4f}"),
                   record.evaluation ? in_percent(record.evaluation->accuracy_masked.mean) : "-",
                   letters_text(status, record), in_percent(record.off_index_mass), record.seconds.total()));
  if (terminal_) draw(status);
}

void PeerDisplay::on_status(const PeerStatus& status) {
  if (terminal_) {
    clear();
    draw(status);
    return;
  }
  // Into a file a wait is said once, after a while: most are over before.
  if (status.waiting_for == said_ || status.stage != "start") return;
  said_ = status.waiting_for;
  if (!said_.empty()) say("waiting", said_);
}

void PeerDisplay::draw(const PeerStatus& status) {
  const std::size_t columns = columns_of_stderr();
  std::string head =
      fmt::format("{}  round {}/{}  {}", status.name, status.round, status.rounds, status.stage);
  if (!status.waiting_for.empty()) head += "  waiting for " + status.waiting_for;
  std::string text = cut(head, columns) + "\n";
  std::size_t width = 0, lines = 1;
  for (const auto& member : status.members) width = std::max(width, member.name.size());
  for (const auto& member : status.members) {
    if (lines > kMostMembersShown) {
      text += fmt::format("… and {} more\n", status.members.size() - kMostMembersShown);
      ++lines;
      break;
    }
    text += cut("  " + member_line(member, width), columns) + "\n";
    ++lines;
  }
  tell(text);
  drawn_lines_ = lines;
}

}  // namespace dfrost::cli
