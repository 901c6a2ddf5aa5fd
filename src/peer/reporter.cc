#include "peer/reporter.h"

#include <algorithm>
#include <chrono>

#include "base/file.h"
#include "base/json.h"
#include "base/stopwatch.h"

namespace dfrost {
namespace {

constexpr std::chrono::seconds kTellEvery{1};

// What the network knows of a member, beside what the driver does.
void refresh(const PeerView& view, MemberStatus& member) {
  member.linked = view.linked;
  member.alive = view.alive;
  if (view.pulse) {
    member.round = view.pulse->round;
    member.stage = stage_name(view.pulse->stage);
  }
  member.silent_seconds = view.silent_seconds;
  member.round_trip_seconds = view.round_trip_seconds;
  member.sent_bytes = view.sent_bytes;
  member.received_bytes = view.received_bytes;
  member.sent_messages = view.sent_messages;
  member.received_messages = view.received_messages;
  member.reconnects = view.reconnects;
  member.software = view.software;
  member.trouble = view.trouble;
}

}  // namespace

Reporter::Reporter(std::filesystem::path folder, PeerStatus first, Tell tell)
    : folder_(std::move(folder)), tell_(std::move(tell)), status_(std::move(first)) {
  thread_ = std::thread([this] { run(); });
}

Reporter::~Reporter() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  wake_.notify_all();
  thread_.join();
  tell_now();
}

void Reporter::watch(const Company* company) {
  const std::lock_guard lock(mutex_);
  company_ = company;
}

void Reporter::change(const std::function<void(PeerStatus&)>& how) {
  const std::lock_guard lock(mutex_);
  how(status_);
}

PeerStatus Reporter::now() const { return snapshot(); }

void Reporter::tell_soon() {
  {
    const std::lock_guard lock(mutex_);
    soon_ = true;
  }
  wake_.notify_all();
}

PeerStatus Reporter::snapshot() const {
  const std::lock_guard lock(mutex_);
  PeerStatus status = status_;
  status.updated = seconds_since_1970();
  if (company_ == nullptr) return status;
  for (const auto& view : company_->members()) {
    const auto member = std::ranges::find(status.members, view.number, &MemberStatus::number);
    if (member != status.members.end()) refresh(view, *member);
  }
  company_->describe(status);
  return status;
}

void Reporter::tell_now() {
  const auto status = snapshot();
  try {
    write_file_atomically(folder_ / kStatusFile, dump_json(to_json(status)) + "\n");
  } catch (const std::exception&) {  // a full disk ends the run where it loses something, not here
  }
  try {
    tell_(status);
  } catch (const std::exception&) {
  }
}

void Reporter::run() {
  std::unique_lock lock(mutex_);
  while (!ended_) {
    lock.unlock();
    tell_now();
    lock.lock();
    wake_.wait_for(lock, kTellEvery, [&] { return ended_ || soon_; });
    soon_ = false;
  }
}

}  // namespace dfrost
