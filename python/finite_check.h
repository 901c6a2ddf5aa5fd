// Infinities and NaN among what is given: they would come out as features that mean nothing, or be lost on
// the way. Looked for where the values are read anyway, by several threads.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <cstddef>
#include <limits>
#include <span>

#include "base/finite.h"
#include "dfrost/error.h"

namespace dfrost::python {

class FiniteCheck {
 public:
  void look(std::size_t image, std::span<const float> values) {
    if (all_finite(values)) return;
    std::size_t before = first_bad_;
    while (image < before && !first_bad_.compare_exchange_weak(before, image)) {
    }
  }
  void require(const char* name) const {
    if (first_bad_ == kNone) return;
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{}[{}] has a value that is not finite: NaN or an infinity", name, first_bad_.load()),
        fmt::format("np.isfinite({}) says where", name));
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::atomic<std::size_t> first_bad_ = kNone;
};

}  // namespace dfrost::python
