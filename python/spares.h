// Things that are costly to make, lent to one call at a time. A process that was forked makes its own:
// threads do not come along, and waiting for theirs would never end.
#pragma once

#include <unistd.h>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace dfrost::python {

template <typename T>
class Spares {
 public:
  template <typename Make>
  std::unique_ptr<T> take(const Make& make) {
    {
      const std::lock_guard lock(mutex_);
      forget_those_of_another_process();
      if (!spare_.empty()) {
        auto one = std::move(spare_.back());
        spare_.pop_back();
        return one;
      }
    }
    return make();
  }
  void give_back(std::unique_ptr<T> one) {
    constexpr std::size_t kMost = 8;
    const std::lock_guard lock(mutex_);
    if (spare_.size() < kMost) spare_.push_back(std::move(one));
  }
  ~Spares() { forget_those_of_another_process(); }

 private:
  // They cannot be ended here, so they are left where they are.
  void forget_those_of_another_process() {
    if (process_ == getpid()) return;
    for (auto& one : spare_) static_cast<void>(one.release());
    spare_.clear();
    process_ = getpid();
  }

  std::mutex mutex_;
  pid_t process_ = getpid();
  std::vector<std::unique_ptr<T>> spare_;
};

}  // namespace dfrost::python
