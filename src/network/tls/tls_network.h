// One site's end of a federation without a server: it listens and dials at once, keeps one link of mutual TLS
// 1.3 to every member it can reach, and carries letters over them (network/exchange.h). A letter is kept
// until its receiver has acknowledged it, and those of the last rounds longer, so that a link that breaks or
// a site that is started again loses nothing. Memory is bounded whatever others do.
// Threads: one network thread of its own; the exchange belongs to the owner's, the rest is for any.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "network/exchange.h"
#include "network/tls/identity.h"
#include "network/tls/wire.h"

namespace dfrost {

class TlsNetwork {
 public:
  // Throws where it cannot listen (unavailable) or the options do not hold together (invalid_argument). The
  // observer lives longer than the network.
  TlsNetwork(WireOptions options, const PrivateKey& key, WireObserver* observer = nullptr);
  ~TlsNetwork();
  TlsNetwork(const TlsNetwork&) = delete;
  TlsNetwork& operator=(const TlsNetwork&) = delete;

  // A member that was silent for missed_heartbeats intervals is gone in its mailbox until it is linked again;
  // nobody is before that time has passed once. Sending never waits.
  Exchange& exchange();

  // What heartbeats say from now on; a new round or stage is told at once, after the letters sent before.
  void tell(const Pulse& pulse);

  std::vector<PeerView> peers() const;  // all but this one, by number
  StrangerCounts strangers() const;
  std::uint16_t port() const;           // that it listens on; 0: none
  std::uint64_t revision_seen() const;  // the highest that a member spoke of
  // Another process with this identity is running: for longer than a broken link explains.
  bool refused_as_duplicate() const;

  // Waits until every letter is acknowledged by its receiver or that one is gone, or until the deadline. Then
  // says goodbye, "done" or that it will be back, and ends all links.
  void linger(Exchange::Deadline deadline, bool done);

 private:
  class Endpoint;
  std::unique_ptr<Endpoint> endpoint_;
};

// What became of one attempt to reach a member, in words; nothing is kept of it, here or there.
struct Probe {
  bool reached = false;   // somebody listens there
  bool tls = false;       // it has the member's key
  bool welcomed = false;  // and would talk to us
  std::string trouble = {};
  std::string hint = {};
  std::string software = {};
  double seconds = 0;
  std::uint64_t revision = 0;  // that it spoke of; 0: of none
};
Probe probe_member(const WireOptions& options, const PrivateKey& key, ClientId member,
                   double timeout_seconds);

}  // namespace dfrost
