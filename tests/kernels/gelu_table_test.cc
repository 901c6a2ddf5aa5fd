#include "kernels/gelu_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/reference.h"

namespace dfrost {
namespace {

// As the vector code reads it, one number at a time.
double look_up(const float (&table)[GeluTable::kCoefficients][GeluTable::kPieces], double x) {
  const double place =
      std::min(std::abs(x), static_cast<double>(GeluTable::kEnd)) * double{GeluTable::kPiecesPerUnit};
  const auto piece = static_cast<std::size_t>(std::lround(place));
  const double r = place - static_cast<double>(piece);
  double sum = 0;
  for (std::size_t k = GeluTable::kCoefficients; k-- > 0;) sum = sum * r + double{table[k][piece]};
  return sum;
}

TEST(GeluTable, GivesTheExactGeluAndItsDerivativeWithinAThousandthOfWhatBf16Rounds) {
  const GeluTable& table = gelu_table();
  for (double x = -12; x < 12; x += 0.0007) {
    const double gelu = std::max(x, 0.0) - std::abs(x) * look_up(table.tail, x);
    ASSERT_NEAR(gelu, reference::gelu(x), 1e-6) << x;
    const double slope = look_up(table.slope, x);
    ASSERT_NEAR(x < 0 ? slope : 1 - slope, reference::gelu_derivative(x), 3e-6) << x;
  }
}

}  // namespace
}  // namespace dfrost
