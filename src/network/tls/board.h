// What the network thread knows, where other threads may look: one view per member, what was refused, and
// how far a goodbye has come. Every function may be called from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string_view>
#include <vector>

#include "network/tls/wire.h"

namespace dfrost {

// On the way out: how far the network thread has come.
enum class Milestone { none, settled, parted };

class Board {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Board(const WireOptions& options);

  // By number, without ours; silence is measured at the call.
  std::vector<PeerView> peers() const;
  StrangerCounts strangers() const;
  std::uint64_t revision_seen() const;
  bool is_duplicate() const;

  // For the network thread.
  void change(ClientId member, const std::function<void(PeerView&)>& change);
  void heard(ClientId member);
  void left(ClientId member);  // it said that it is done: not alive until it is heard of again
  void count(std::string_view reason);
  void see_revision(std::uint64_t revision);
  void set_duplicate();

  void reach(Milestone milestone);
  bool wait_for(Milestone milestone, Clock::time_point deadline);

 private:
  struct Entry {
    PeerView view;
    Clock::time_point heard = Clock::now();
    bool ever_heard = false;
  };

  const double silence_seconds_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<ClientId, Entry> entries_;
  StrangerCounts strangers_;
  std::uint64_t revision_seen_;
  bool duplicate_ = false;
  Milestone reached_ = Milestone::none;
};

}  // namespace dfrost
