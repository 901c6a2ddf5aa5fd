// How near one result is to another.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace dfrost::test {

struct Agreement {
  double relative_error = 0;  // ‖ours - theirs‖ / ‖theirs‖
  double cosine = 0;
};

template <typename A, typename B>
Agreement compare(const std::vector<A>& ours, const std::vector<B>& theirs) {
  EXPECT_EQ(ours.size(), theirs.size());
  double difference = 0, dot = 0, a = 0, b = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double x = static_cast<double>(ours[i]), y = static_cast<double>(theirs[i]);
    difference += (x - y) * (x - y);
    dot += x * y;
    a += x * x;
    b += y * y;
  }
  return {std::sqrt(difference / b), dot / std::sqrt(a * b)};
}

}  // namespace dfrost::test
