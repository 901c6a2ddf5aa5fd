// Counts what many threads finish, and tells one at a time.
#pragma once

#include <mutex>

#include "run/round.h"

namespace dfrost {

class ProgressCounter {
 public:
  ProgressCounter(const RoundProgressCallback& progress, std::string_view stage, std::size_t total)
      : progress_(progress), state_{stage, 0, total, 0} {
    if (progress_) progress_(state_);
  }
  void add(std::size_t images = 0) {
    const std::lock_guard lock(mutex_);
    ++state_.done;
    state_.images += images;
    if (progress_) progress_(state_);
  }

 private:
  const RoundProgressCallback& progress_;
  std::mutex mutex_;
  RoundProgress state_;
};

}  // namespace dfrost
