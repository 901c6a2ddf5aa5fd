#include "network/tls/board.h"

#include <algorithm>

namespace dfrost {

Board::Board(const WireOptions& options)
    : silence_seconds_(options.silence_seconds()), revision_seen_(options.revision) {
  for (const auto& member : options.members) {
    if (member.number == options.self) continue;
    Entry& entry = entries_[member.number];
    entry.view.number = member.number;
    entry.view.name = member.name;
  }
}

std::vector<PeerView> Board::peers() const {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  std::vector<PeerView> views;
  for (const auto& [number, entry] : entries_) {
    views.push_back(entry.view);
    views.back().silent_seconds = std::chrono::duration<double>(now - entry.heard).count();
    views.back().alive = entry.ever_heard && views.back().silent_seconds < silence_seconds_;
  }
  return views;
}

StrangerCounts Board::strangers() const {
  const std::lock_guard lock(mutex_);
  return strangers_;
}

std::uint64_t Board::revision_seen() const {
  const std::lock_guard lock(mutex_);
  return revision_seen_;
}

bool Board::is_duplicate() const {
  const std::lock_guard lock(mutex_);
  return duplicate_;
}

void Board::change(ClientId member, const std::function<void(PeerView&)>& change) {
  const std::lock_guard lock(mutex_);
  change(entries_.at(member).view);
}

void Board::heard(ClientId member) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_.at(member);
  entry.heard = Clock::now();
  entry.ever_heard = true;
}

void Board::left(ClientId member) {
  const std::lock_guard lock(mutex_);
  entries_.at(member).ever_heard = false;
}

void Board::count(std::string_view reason) {
  const std::lock_guard lock(mutex_);
  ++strangers_.by_reason[std::string(reason)];
}

void Board::see_revision(std::uint64_t revision) {
  const std::lock_guard lock(mutex_);
  revision_seen_ = std::max(revision_seen_, revision);
}

void Board::set_duplicate() {
  const std::lock_guard lock(mutex_);
  duplicate_ = true;
}

void Board::reach(Milestone milestone) {
  const std::lock_guard lock(mutex_);
  if (milestone <= reached_) return;
  reached_ = milestone;
  changed_.notify_all();
}

bool Board::wait_for(Milestone milestone, Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline, [&] { return reached_ >= milestone; });
}

}  // namespace dfrost
