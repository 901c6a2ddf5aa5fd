#include "network/tls/tls_network.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "dfrost/error.h"
#include "network/mailbox_exchange.h"
#include "network/tls/board.h"
#include "network/tls/hub.h"

namespace dfrost {
namespace {

// For goodbyes to be read, whatever the deadline for letters was.
constexpr auto kPartingTime = std::chrono::seconds(1);

WireOptions checked(WireOptions options, const PrivateKey& key) {
  options.validate();
  for (const auto& member : options.members) {
    if (member.number == options.self && member.key != key.fingerprint()) {
      throw Error(ErrorCode::invalid_argument, "the private key is not that of this member",
                  "the federation file was made with another key of this site; use that, or send the new "
                  "member file to the founder");
    }
  }
  return options;
}

std::size_t places_for(const WireOptions& options) {
  ClientId highest = 0;
  for (const auto& member : options.members) highest = std::max(highest, member.number);
  return std::size_t{highest} + 1;
}

}  // namespace

class TlsNetwork::Endpoint final : public MailboxExchange {
 public:
  Endpoint(const WireOptions& options, const PrivateKey& key, WireObserver* observer)
      : MailboxExchange(options.self, places_for(options), options.mailbox),
        board_(options),
        hub_(options, key, mailbox(), board_, observer) {
    mailbox().begin({options.round, 0});  // what comes of this round before the owner asks for it is kept
    hub_.start();
  }

  void begin(Moment moment) override {
    MailboxExchange::begin(moment);
    hub_.post_begin(moment);  // after the mailbox: who hears of it may send
  }

  void send(ClientId peer, SharedBytes message) override {
    assert(peer != self() && message != nullptr && !message->empty());
    count_sent(message->size());
    hub_.post_send(peer, moment(), std::move(message));
  }

  Board& board() { return board_; }
  Hub& hub() { return hub_; }

 private:
  Board board_;
  Hub hub_;  // last: its thread uses the others
};

TlsNetwork::TlsNetwork(WireOptions options, const PrivateKey& key, WireObserver* observer)
    : endpoint_(std::make_unique<Endpoint>(checked(std::move(options), key), key, observer)) {}
TlsNetwork::~TlsNetwork() = default;

Exchange& TlsNetwork::exchange() { return *endpoint_; }
void TlsNetwork::tell(const Pulse& pulse) { endpoint_->hub().post_tell(pulse); }
std::vector<PeerView> TlsNetwork::peers() const { return endpoint_->board().peers(); }
StrangerCounts TlsNetwork::strangers() const { return endpoint_->board().strangers(); }
std::uint16_t TlsNetwork::port() const { return endpoint_->hub().port(); }
std::uint64_t TlsNetwork::revision_seen() const { return endpoint_->board().revision_seen(); }
bool TlsNetwork::refused_as_duplicate() const { return endpoint_->board().is_duplicate(); }

void TlsNetwork::linger(Exchange::Deadline deadline, bool done) {
  endpoint_->hub().post_linger();
  endpoint_->board().wait_for(Milestone::settled, deadline);
  endpoint_->hub().post_goodbye(done ? Farewell::done : Farewell::leaving);
  endpoint_->board().wait_for(Milestone::parted, std::chrono::steady_clock::now() + kPartingTime);
}

}  // namespace dfrost
