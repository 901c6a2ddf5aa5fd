// Work space that calls borrow and give back, so that a buffer of many megabytes is not allocated, page by
// page, for every call. Holds as many as were ever in use at once.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace dfrost {

template <typename T>
class SpareScratch {
 public:
  // Gives its object back when it goes.
  class Loan {
   public:
    Loan(SpareScratch& owner, std::unique_ptr<T> object) : owner_(&owner), object_(std::move(object)) {}
    ~Loan() { owner_->give_back(std::move(object_)); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    T& operator*() const { return *object_; }

   private:
    SpareScratch* owner_;
    std::unique_ptr<T> object_;
  };

  Loan borrow() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return Loan(*this, std::make_unique<T>());
    auto object = std::move(idle_.back());
    idle_.pop_back();
    return Loan(*this, std::move(object));
  }

 private:
  void give_back(std::unique_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(object));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> idle_;
};

}  // namespace dfrost
