// The metrics of a site in Prometheus' text format: a few families, base units, counters end in _total.
#include <fmt/format.h>

#include "peer/company.h"
#include "peer/status.h"

namespace dfrost {
namespace {

// Within the quotes of a label.
std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\\' || c == '"') safe += '\\';
    if (c == '\n') {
      safe += "\\n";
    } else {
      safe += c;
    }
  }
  return safe;
}

class Page {
 public:
  void family(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    text_ += fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
  }
  void sample(double value, std::string_view labels = {}) {
    text_ += labels.empty() ? fmt::format("{} {}\n", name_, value)
                            : fmt::format("{}{{{}}} {}\n", name_, labels, value);
  }
  std::string text() && { return std::move(text_); }

 private:
  std::string name_, text_;
};

std::string peer_label(const MemberStatus& member) {
  return fmt::format("peer=\"{}\"", escaped(member.name));
}

void add_members(const PeerStatus& status, Page& page) {
  page.family("dfrost_peer_up", "gauge", "Whether the member is linked and has been heard of lately.");
  for (const auto& m : status.members) page.sample(m.alive ? 1 : 0, peer_label(m));
  page.family("dfrost_peer_round", "gauge", "The round that the member said it is in.");
  for (const auto& m : status.members)
    if (m.round) page.sample(static_cast<double>(*m.round), peer_label(m));
  page.family("dfrost_peer_round_trip_seconds", "gauge", "Round trip to the member.");
  for (const auto& m : status.members) page.sample(m.round_trip_seconds, peer_label(m));
  page.family("dfrost_peer_reconnects_total", "counter", "Links to the member that had to be made again.");
  for (const auto& m : status.members) page.sample(static_cast<double>(m.reconnects), peer_label(m));
  page.family("dfrost_messages_total", "counter",
              "Letters by member: sent, received, or missing where one was expected.");
  for (const auto& m : status.members) {
    page.sample(static_cast<double>(m.sent_messages), peer_label(m) + ",result=\"sent\"");
    page.sample(static_cast<double>(m.received_messages), peer_label(m) + ",result=\"received\"");
    page.sample(static_cast<double>(m.missing_messages), peer_label(m) + ",result=\"missing\"");
  }
}

}  // namespace

std::string metrics_text(const PeerStatus& status) {
  Page page;
  page.family("dfrost_build_info", "gauge", "Always 1; the labels say what runs.");
  page.sample(1, fmt::format("version=\"{}\",site=\"{}\",federation=\"{}\"", escaped(status.version),
                             escaped(status.name), escaped(status.federation)));
  page.family("dfrost_round", "gauge", "The round under way.");
  page.sample(static_cast<double>(status.round));
  page.family("dfrost_rounds", "gauge", "Rounds in all.");
  page.sample(static_cast<double>(status.rounds));
  page.family("dfrost_rounds_done", "gauge", "The last round that is done.");
  page.sample(static_cast<double>(status.done));
  page.family("dfrost_stage", "gauge", "1 for the stage that the site is in.");
  for (const auto stage : kStageNames)
    page.sample(stage == status.stage ? 1 : 0, fmt::format("stage=\"{}\"", stage));
  page.family("dfrost_last_merge_timestamp_seconds", "gauge", "When it last merged; absent before that.");
  if (status.last_merge) page.sample(*status.last_merge);
  page.family("dfrost_merges_total", "counter", "Merges since the process started.");
  page.sample(static_cast<double>(status.merges));
  page.family("dfrost_jumps_total", "counter", "Jumps to the round of the others, after being left behind.");
  page.sample(static_cast<double>(status.jumps));
  page.family("dfrost_stage_duration_seconds_total", "counter", "Time spent in each stage.");
  for (const auto& [stage, seconds] : status.stage_seconds)
    page.sample(seconds, fmt::format("stage=\"{}\"", escaped(stage)));
  page.family("dfrost_sent_bytes_total", "counter", "Bytes of letters sent.");
  page.sample(static_cast<double>(status.sent_bytes));
  page.family("dfrost_received_bytes_total", "counter", "Bytes of letters received.");
  page.sample(static_cast<double>(status.received_bytes));
  page.family("dfrost_refused_connections_total", "counter", "Connections refused, by reason.");
  for (const auto& [reason, count] : status.strangers)
    page.sample(static_cast<double>(count), fmt::format("reason=\"{}\"", escaped(reason)));
  add_members(status, page);
  return std::move(page).text();
}

}  // namespace dfrost
