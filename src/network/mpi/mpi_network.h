// The exchanges of the nodes that live on one rank. Letters between them go from mailbox to mailbox, as in
// one process; those to and from other ranks are known beforehand from the graph of the round, so that room
// for each is made before anybody works, and both sides know what to wait for. Every letter of a phase is
// there before anybody receives: what is received does not depend on ranks.
// Threads: nodes send from any; begin() and carry() are called by the one that started MPI.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "network/exchange.h"
#include "network/mailbox.h"
#include "network/mpi/communicator.h"

namespace dfrost {

struct LetterLink {
  ClientId sender = 0;
  ClientId receiver = 0;
};

class MpiNetwork {
 public:
  struct Options {
    std::vector<std::size_t> homes;  // the rank on which each node lives
    MailboxOptions mailbox = {};
    // Over which links there may be letters at a moment; at all ranks the same, in the same order.
    std::function<std::vector<LetterLink>(Moment)> links;
  };
  MpiNetwork(Communicator& ranks, Options options);
  ~MpiNetwork();
  MpiNetwork(const MpiNetwork&) = delete;
  MpiNetwork& operator=(const MpiNetwork&) = delete;

  // Of a node that lives here. Lives as long as the network.
  Exchange& exchange_of(ClientId node);
  // When all letters of a moment are handed over.
  void carry(Moment moment);

 private:
  class Endpoint;
  bool lives_here(ClientId node) const { return options_.homes[node] == ranks_.rank(); }
  void listen(Moment moment);
  void keep(ClientId sender, ClientId receiver, SharedBytes message);

  Communicator& ranks_;
  Options options_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;  // by node; null where it lives elsewhere
  std::optional<Moment> heard_;                       // the moment that it listens for
  std::vector<LetterLink> incoming_, outgoing_;       // from and to other ranks
  std::mutex mutex_;
  std::map<std::pair<ClientId, ClientId>, SharedBytes> outbox_;
};

}  // namespace dfrost
