// Several sites of one federation in one process, over real TLS on loopback, for tests. A site is dialled by
// all that come after it: those know its port.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "network/tls/tls_network.h"

namespace dfrost::test {

// Waits for what must come about; how long that takes on a busy machine does not matter.
inline bool eventually(const std::function<bool()>& holds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

inline Exchange::Deadline far_off() { return std::chrono::steady_clock::now() + std::chrono::seconds(60); }

inline SharedBytes letter_of(std::size_t size, unsigned fill = 1) {
  return std::make_shared<const std::vector<std::byte>>(size, static_cast<std::byte>(fill));
}

class Sites {
 public:
  explicit Sites(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      keys_.push_back(PrivateKey::generate());
      members_.push_back({.number = static_cast<ClientId>(i),
                          .name = "site-" + std::to_string(i),
                          .address = "",
                          .key = keys_.back().fingerprint()});
    }
    networks_.resize(count);
    options.listen = "127.0.0.1:0";
    options.federation.bytes[0] = std::byte{7};
    options.run.bytes[0] = std::byte{9};
    options.software = "test";
    options.mailbox.message_limit_bytes = 4 << 20;
    // Often, and yet nobody is gone because the machine is busy.
    options.heartbeat_seconds = 0.05;
    options.missed_heartbeats = 400;
    options.limits.retry_seconds = 0.01;
    options.limits.longest_retry_seconds = 0.05;
    options.limits.refused_retry_seconds = 0.1;
    options.limits.barred_seconds = 0.05;
  }

  WireOptions options;  // what all have in common; change it before start()

  std::size_t count() const { return keys_.size(); }
  const PrivateKey& key(ClientId site) const { return keys_[site]; }
  std::vector<WireMember>& members() { return members_; }
  TlsNetwork& operator[](ClientId site) { return *networks_[site]; }
  Exchange& exchange(ClientId site) { return networks_[site]->exchange(); }
  std::uint16_t port(ClientId site) const { return ports_.at(site); }

  WireOptions options_of(ClientId site) const {
    WireOptions own = options;
    own.self = site;
    own.members = members_;
    return own;
  }

  TlsNetwork& start(ClientId site, const std::function<void(WireOptions&)>& change = {},
                    WireObserver* observer = nullptr) {
    WireOptions own = options_of(site);
    if (ports_.contains(site)) own.listen = "127.0.0.1:" + std::to_string(ports_[site]);
    if (change) change(own);
    networks_[site] = std::make_unique<TlsNetwork>(own, keys_[site], observer);
    ports_[site] = networks_[site]->port();
    if (members_[site].address.empty()) members_[site].address = address_of(ports_[site]);
    return *networks_[site];
  }
  void start_all() {
    for (ClientId site = 0; site < count(); ++site) start(site);
  }
  void stop(ClientId site) { networks_[site].reset(); }

  static std::string address_of(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

  PeerView view(ClientId of, ClientId member) const {
    for (auto& one : networks_[of]->peers()) {
      if (one.number == member) return one;
    }
    return {};
  }
  bool linked(ClientId a, ClientId b) const { return view(a, b).linked && view(b, a).linked; }
  bool all_linked() const {
    for (ClientId a = 0; a < count(); ++a) {
      for (ClientId b = 0; b < count(); ++b) {
        if (a != b && !view(a, b).linked) return false;
      }
    }
    return true;
  }

 private:
  std::vector<PrivateKey> keys_;
  std::vector<WireMember> members_;
  std::vector<std::unique_ptr<TlsNetwork>> networks_;
  std::map<ClientId, std::uint16_t> ports_;
};

}  // namespace dfrost::test
