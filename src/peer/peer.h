// `dfrost peer start` without its screen: one member of a federation, driven round by round over an exchange
// until the last round. It waits for whom there is reason to wait for, goes on without the others, catches up
// where it was left behind, and leaves in its run folder what `dfrost run` leaves, and who came when. Killed
// at any moment, it goes on from the last round that it had done.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "data/preprocess.h"
#include "dfrost/backbone.h"
#include "federation/site.h"
#include "network/exchange.h"
#include "network/mailbox.h"
#include "peer/company.h"
#include "peer/patience.h"
#include "peer/pictures.h"
#include "peer/status.h"
#include "records/record.h"
#include "run/backbone_frame.h"
#include "run/run_notes.h"

namespace dfrost {

struct PeerOptions {
  PatienceOptions patience = {};
  std::size_t min_present = 0;         // members alive, itself included, without whom no round begins
  double linger_seconds = 60;          // at the end, until its last letters have arrived
  std::string command = {};            // for about.json
  std::function<bool()> stopped = {};  // asked many times a second
};

// Calls come from several threads, one at a time.
class PeerObserver : public RunNotes {
 public:
  virtual void on_status(const PeerStatus& status) = 0;  // once a second, and at the end
  virtual void on_round(const RoundRecord& record, const PeerStatus& status) = 0;
};

struct PeerResult {
  bool stopped = false;  // before the last round
  std::uint64_t rounds_done = 0;
};

// Runs a site as its folder says, over TLS. Throws where it cannot start or cannot go on.
PeerResult run_peer(const Site& site, PeerOptions options, PeerObserver& observer);

// What a driver runs with; all of it outlives the run.
struct PeerParts {
  const RunConfig& config;
  const Federation& federation;
  ClientId self = 0;
  const Backbone& backbone;
  const Preprocessing& preprocessing;
  std::string family;   // whose names the checkpoint's tensors have
  std::string weights;  // weights_fingerprint()
  const SitePictures& pictures;
  std::filesystem::path folder;                           // run/
  std::optional<FrameParts> frame = {};                   // backbone_frame()
  std::shared_ptr<const std::vector<float>> metric = {};  // backbone_metric()
};

// A peer before it has a network: opens the run folder and goes on from what is there.
class PeerRun {
 public:
  PeerRun(const PeerParts& parts, PeerOptions options, PeerObserver& observer);
  ~PeerRun();

  // The first that it speaks of: of its last rounds it sends its letters again before it goes on.
  std::uint64_t first_round() const;
  const RunId& run_id() const;
  MailboxOptions mailbox() const;  // that its exchange needs

  // Until the last round, or until it is stopped; adapters are written at the end.
  PeerResult run(Exchange& exchange, Company& company);
  // The exchange and the company are looked at no more; before they end.
  void leave();

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace dfrost
