// How much somebody may take: an amount that fills up at a steady rate to what one second allows.
#pragma once

#include <algorithm>
#include <chrono>

namespace dfrost {

class Meter {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Meter(double per_second) : per_second_(per_second), left_(per_second) {}

  // What was taken may exceed what is left, by one piece: it is owed then.
  void take(double amount) { left_ -= amount; }
  bool is_spent() const { return left_ <= 0; }  // as of when it was last filled up
  bool is_empty(Clock::time_point now) {
    left_ = std::min(per_second_, left_ + per_second_ * std::chrono::duration<double>(now - filled_).count());
    filled_ = now;
    return left_ <= 0;
  }

 private:
  double per_second_;
  double left_;
  Clock::time_point filled_ = Clock::now();
};

}  // namespace dfrost
