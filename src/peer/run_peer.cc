#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>

#include "backbone/checkpoint.h"
#include "backbone/weights_fingerprint.h"
#include "base/file.h"
#include "base/version.h"
#include "dfrost/error.h"
#include "federation/site_data.h"
#include "federation/wire_setup.h"
#include "network/tls/tls_network.h"
#include "peer/peer.h"

namespace dfrost {
namespace {

class TlsCompany final : public Company {
 public:
  explicit TlsCompany(TlsNetwork& network) : network_(network) {}
  void tell(const Pulse& pulse) override { network_.tell(pulse); }
  std::vector<PeerView> members() const override { return network_.peers(); }
  bool has_twin() const override { return network_.refused_as_duplicate(); }
  void describe(PeerStatus& status) const override {
    status.revision_seen = std::max(status.revision, network_.revision_seen());
    for (const auto& [reason, count] : network_.strangers().by_reason) status.strangers[reason] = count;
  }

 private:
  TlsNetwork& network_;
};

// Links that come and go, for the log; from the network thread.
class LinkNotes final : public WireObserver {
 public:
  LinkNotes(const Federation& federation, PeerObserver& observer)
      : federation_(federation), observer_(observer) {}
  void on_link(ClientId member, bool up) override {
    say(fmt::format("{} {}", up ? "linked with" : "lost the link to", name_of(member)));
  }
  void on_trouble(std::string_view who, std::string_view what) override {
    say(fmt::format("{}: {}", who, what));
  }

 private:
  std::string name_of(ClientId number) const {
    for (const auto& member : federation_.members)
      if (member.number == number) return member.name;
    return "a member that is not listed";
  }
  void say(const std::string& text) noexcept {
    try {
      observer_.on_note(text);
    } catch (...) {  // the network goes on
    }
  }

  const Federation& federation_;
  PeerObserver& observer_;
};

// One call at a time, whichever thread it comes from.
class OneAtATime final : public PeerObserver {
 public:
  explicit OneAtATime(PeerObserver& observer) : observer_(observer) {}
  void on_note(const std::string& text) override {
    const std::lock_guard lock(mutex_);
    observer_.on_note(text);
  }
  void on_warning(const std::string& what, const std::string& hint) override {
    const std::lock_guard lock(mutex_);
    observer_.on_warning(what, hint);
  }
  void on_status(const PeerStatus& status) override {
    const std::lock_guard lock(mutex_);
    observer_.on_status(status);
  }
  void on_round(const RoundRecord& record, const PeerStatus& status) override {
    const std::lock_guard lock(mutex_);
    observer_.on_round(record, status);
  }

 private:
  PeerObserver& observer_;
  std::mutex mutex_;
};

Exchange::Deadline in_seconds(double seconds) {
  return std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                std::chrono::duration<double>(seconds));
}

void take_settings(const SiteSettings& settings, PeerOptions& options) {
  options.patience.heartbeat_seconds = settings.heartbeat_seconds;
  options.patience.longest_seconds = settings.patience_seconds;
  options.patience.stalled_seconds = std::min(options.patience.stalled_seconds, settings.patience_seconds);
  options.min_present = settings.min_present;
}

// What no signed file should ask of sites.
void check_cooperation(const RunConfig& config) {
  if (config.method.cooperation == Cooperation::central)
    throw Error(ErrorCode::failed_precondition,
                fmt::format("the method {} puts everybody's pictures into one place", config.method.name),
                "it is for 'dfrost run'; sites keep theirs");
  if (config.method.round == RoundKind::ntk)
    throw Error(
        ErrorCode::failed_precondition,
        fmt::format("the method {} sends what the head reads of every single picture", config.method.name),
        "it is for 'dfrost run'; between sites take a method that sends trained values alone");
  if (config.method.cooperation == Cooperation::server)
    throw Error(ErrorCode::failed_precondition,
                fmt::format("the method {} needs a server, and no member of a federation is one yet",
                            config.method.name),
                "it is for 'dfrost run'; between sites take a method whose clients are peers");
}

}  // namespace

PeerResult run_peer(const Site& site, PeerOptions options, PeerObserver& watcher) {
  OneAtATime observer(watcher);
  take_settings(site.settings, options);
  const Federation& federation = site.joined();
  RunConfig config = site.config();
  check_cooperation(config);
  const FolderLock lock(site.folder);
  config.backbone.path = find_site_backbone(site);
  const auto source = site_backbone(site);
  const auto pictures = open_site_pictures(site, observer);
  const auto backbone = make_backbone(*source, {.precision = config.backbone.precision});
  const PeerParts parts{
      config,
      federation,
      site.number(),
      *backbone,
      source->preprocessing(),
      std::string(to_string(source->family())),
      federation.backbone_fingerprint,
      pictures,
      site.run_folder(),
      backbone_frame(config, config.backbone.path, *source, federation.backbone_fingerprint),
      backbone_metric(config, *source)};
  const double linger = options.linger_seconds;
  PeerRun peer(parts, std::move(options), observer);
  auto wire = wire_options(site);
  wire.run = peer.run_id();
  wire.round = peer.first_round();
  wire.mailbox = peer.mailbox();
  LinkNotes links(federation, observer);
  TlsNetwork network(std::move(wire), site.key, &links);
  TlsCompany company(network);
  PeerResult result;
  try {
    result = peer.run(network.exchange(), company);
  } catch (...) {
    peer.leave();
    throw;
  }
  // Who stops early leaves its last letters on disk, and sends them again when it is back.
  network.linger(in_seconds(result.stopped ? 2 : linger), !result.stopped);
  peer.leave();
  return result;
}

}  // namespace dfrost
