// What a site shows while it runs: on a terminal a table of rounds that grows above a few lines that are
// drawn again every second, one per member; elsewhere plain lines, or one JSON object a line. All of it on
// stderr.
#pragma once

#include <cstddef>
#include <string>

#include "peer/peer.h"

namespace dfrost::cli {

enum class LogForm { text, json };

class PeerDisplay final : public PeerObserver {
 public:
  explicit PeerDisplay(LogForm form);

  void on_note(const std::string& text) override;
  void on_warning(const std::string& what, const std::string& hint) override;
  void on_status(const PeerStatus& status) override;
  void on_round(const RoundRecord& record, const PeerStatus& status) override;
  void close();  // leaves the screen as it is, below it what comes next

 private:
  void clear();
  void draw(const PeerStatus& status);
  void say(const char* event, const std::string& text);

  LogForm form_;
  bool terminal_;
  std::size_t drawn_lines_ = 0;
  bool has_heading_ = false;
  std::string said_;  // what is waited for, as it was last said
};

// One line on a member: "clinic-b   alive   round 6   train   awaited".
std::string member_line(const MemberStatus& member, std::size_t name_width);

}  // namespace dfrost::cli
