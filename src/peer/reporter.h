// Tells once a second how a peer is: a thread that looks at what the driver last said and at the others,
// writes peer.json and hands it on. Nothing here may end a run: a status that cannot be written is not.
#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <thread>

#include "peer/company.h"
#include "peer/status.h"

namespace dfrost {

class Reporter {
 public:
  using Tell = std::function<void(const PeerStatus&)>;
  Reporter(std::filesystem::path folder, PeerStatus first, Tell tell);
  ~Reporter();  // tells once more
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;

  // From here on the others are known, until it is told null.
  void watch(const Company* company);

  // Changes what is told.
  void change(const std::function<void(PeerStatus&)>& how);
  PeerStatus now() const;
  void tell_soon();  // does not wait for the second to be over

 private:
  void run();
  void tell_now();
  PeerStatus snapshot() const;

  std::filesystem::path folder_;
  Tell tell_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  PeerStatus status_;
  const Company* company_ = nullptr;
  bool ended_ = false, soon_ = false;
  std::thread thread_;
};

}  // namespace dfrost
