// `dfrost peer start | status`: a site at work, and how it is.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>

#include "base/file.h"
#include "base/stopwatch.h"
#include "cli/command.h"
#include "cli/peer_display.h"
#include "dfrost/error.h"
#include "peer/metrics_server.h"
#include "peer/notify.h"
#include "peer/peer.h"

namespace dfrost::cli {
namespace {

volatile std::sig_atomic_t told_to_end = 0;

// The second ends the process as usual.
void note_end(int signal) {
  told_to_end = 1;
  std::signal(signal, SIG_DFL);
}

struct StartArguments {
  std::string site, metrics, log = "text";
  bool json = false;
};

struct StatusArguments {
  std::string site;
  bool json = false;
};

// Hands the status on to the service manager and to who collects metrics. The watchdog is fed only while
// something goes on: pictures, steps of a round, looks for the others.
class Operated final : public PeerObserver {
 public:
  Operated(PeerDisplay& display, MetricsServer* metrics) : display_(display), metrics_(metrics) {}
  void on_note(const std::string& text) override { display_.on_note(text); }
  void on_warning(const std::string& what, const std::string& hint) override {
    display_.on_warning(what, hint);
  }
  void on_round(const RoundRecord& record, const PeerStatus& status) override {
    display_.on_round(record, status);
  }
  void on_status(const PeerStatus& status) override {
    if (metrics_ != nullptr) metrics_->show(status);
    const auto alive = std::ranges::count_if(status.members, &MemberStatus::alive);
    std::string state = fmt::format("STATUS=round {}/{}, {}, {} of {} members alive", status.round,
                                    status.rounds, status.stage, alive, status.members.size());
    if (!ready_) state += "\nREADY=1";
    ready_ = true;
    if (status.progress != fed_) state += "\nWATCHDOG=1";
    fed_ = status.progress;
    notify_service(state);
    display_.on_status(status);
  }

 private:
  PeerDisplay& display_;
  MetricsServer* metrics_;
  bool ready_ = false;
  std::uint64_t fed_ = 0;
};

bool is_running(const std::filesystem::path& site) {
  try {
    const FolderLock lock(site);
    return false;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::failed_precondition) throw;
    return true;
  }
}

void start_site(const StartArguments& arguments) {
  const Site site = open_site(arguments.site);
  PeerDisplay display(arguments.log == "json" ? LogForm::json : LogForm::text);
  std::optional<MetricsServer> metrics;
  const std::string address = arguments.metrics.empty() ? site.settings.metrics : arguments.metrics;
  if (!address.empty()) {
    metrics.emplace(address);
    display.on_note(fmt::format("metrics on port {}", metrics->port()));
  }
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, note_end);
  std::signal(SIGPIPE, SIG_IGN);
  Operated operated(display, metrics ? &*metrics : nullptr);
  PeerOptions options;
  options.command = fmt::format("dfrost peer start {}", arguments.site);
  options.stopped = [] { return told_to_end != 0; };
  const auto result = run_peer(site, options, operated);
  display.close();
  notify_service("STOPPING=1");
  const auto status = read_status(site.run_folder());
  if (arguments.json) {
    print_json(to_json(status));
  } else if (result.stopped) {
    fmt::print("stopped after round {} of {}; 'dfrost peer start {}' goes on\n", result.rounds_done,
               status.rounds, arguments.site);
  } else {
    fmt::print("all {} rounds done; the adapter is in {}\n", status.rounds,
               (site.run_folder() / "adapter").string());
  }
}

std::string ago(double seconds) {
  const long whole = std::max(0L, static_cast<long>(seconds));
  if (whole < 120) return fmt::format("{} s ago", whole);
  if (whole < 7200) return fmt::format("{} min ago", whole / 60);
  return fmt::format("{} h ago", whole / 3600);
}

void print_status(const PeerStatus& status, Health health, double now) {
  const auto line = [](std::string_view name, const std::string& value) {
    fmt::print("{:<12}{}\n", name, value);
  };
  line("site", fmt::format("{}, member {} of {}", status.name, status.number, status.federation));
  line("health", std::string(to_string(health)));
  line("round", fmt::format("{} of {}, {}", health == Health::done ? status.done : status.round,
                            status.rounds, health == Health::done ? "done" : status.stage));
  if (!status.waiting_for.empty()) line("waiting", status.waiting_for);
  line("last merge", status.last_merge
                         ? fmt::format("round {}, {}", status.last_merge_round, ago(now - *status.last_merge))
                         : "none");
  line("letters", fmt::format("{:.1f} MB sent, {:.1f} MB received, {} missing",
                              static_cast<double>(status.sent_bytes) / 1e6,
                              static_cast<double>(status.received_bytes) / 1e6, status.missing_messages));
  if (status.jumps + status.adoptions > 0)
    line("caught up", fmt::format("{} jumps, {} states adopted", status.jumps, status.adoptions));
  if (status.revision_seen > status.revision)
    line("revision",
         fmt::format("{} here, others have {}: join the newer file", status.revision, status.revision_seen));
  if (!status.trouble.empty()) line("ended by", status.trouble);
  std::size_t width = 0;
  for (const auto& member : status.members) width = std::max(width, member.name.size());
  for (const auto& member : status.members) fmt::print("  {}\n", member_line(member, width));
}

// What to do about a site that is not well.
std::string advice(Health health, const PeerStatus& status) {
  if (health == Health::stopped)
    return status.ended == "failed" ? "mend what ended it and start it again: it goes on from the last round"
                                    : "start it by 'dfrost peer start': it goes on from the last round";
  return "see above whom it waits for; 'dfrost peer check' dials everybody";
}

void show_status(const StatusArguments& arguments) {
  const auto site = open_site(arguments.site);
  auto status = read_status(site.run_folder());
  const bool running = is_running(site.folder);
  const double now = seconds_since_1970();
  const Health health = health_of(status, running, now);
  if (!running)
    for (auto& member : status.members) member.linked = member.alive = member.awaited = false;
  if (arguments.json) {
    auto json = to_json(status);
    json["running"] = running;
    json["health"] = to_string(health);
    print_json(json);
  } else {
    print_status(status, health, now);
  }
  if (is_healthy(health)) return;
  throw Error(ErrorCode::failed_precondition,
              fmt::format("{} is {}, not merging", status.name, to_string(health)), advice(health, status));
}

}  // namespace

void add_peer_start_command(CLI::App& peer) {
  auto* command =
      add_command(peer, "start", "Train with the others until the last round; stop and start at any time.",
                  {"dfrost peer start site", "dfrost peer start site --log json --metrics 127.0.0.1:9464"});
  auto arguments = std::make_shared<StartArguments>();
  command->add_option("site", arguments->site, "The site's folder")->required();
  command->add_option("--metrics", arguments->metrics,
                      "Serve Prometheus' metrics there: host:port, or :port for this machine alone");
  command->add_option("--log", arguments->log, "How to tell what goes on: text, or json, one object a line")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  add_json_flag(*command, arguments->json);
  command->callback([arguments] { start_site(*arguments); });
}

void add_peer_status_command(CLI::App& peer) {
  auto* command =
      add_command(peer, "status", "How a site is: its round, its neighbours, when it last merged.",
                  {"dfrost peer status site           exit code 0: it merged lately, or all is done; 1: not",
                   "dfrost peer status site --json"});
  auto arguments = std::make_shared<StatusArguments>();
  command->add_option("site", arguments->site, "The site's folder")->required();
  add_json_flag(*command, arguments->json);
  command->callback([arguments] { show_status(*arguments); });
}

}  // namespace dfrost::cli
