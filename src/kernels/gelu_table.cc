#include "kernels/gelu_table.h"

#include <array>
#include <cmath>
#include <numbers>

namespace dfrost {
namespace {

constexpr std::size_t kNodes = GeluTable::kCoefficients;
using Cubic = std::array<double, kNodes>;

double tail(double a) { return 0.5 * std::erfc(a / std::numbers::sqrt2); }
double slope(double a) { return tail(a) - a * std::exp(-0.5 * a * a) / std::sqrt(2 * std::numbers::pi); }

// The coefficients of the cubic through f at the four Chebyshev nodes of [-½, ½]: Newton's divided
// differences, then multiplied out.
template <class F>
Cubic interpolate(const F& f) {
  Cubic nodes, differences;
  for (std::size_t i = 0; i < kNodes; ++i) {
    nodes[i] = 0.5 * std::cos(std::numbers::pi * static_cast<double>(2 * i + 1) / (2 * kNodes));
    differences[i] = f(nodes[i]);
  }
  for (std::size_t order = 1; order < kNodes; ++order) {
    for (std::size_t i = kNodes - 1; i >= order; --i) {
      differences[i] = (differences[i] - differences[i - 1]) / (nodes[i] - nodes[i - order]);
    }
  }
  Cubic cubic{differences[kNodes - 1]};
  for (std::size_t i = kNodes - 1; i-- > 0;) {  // cubic = cubic·(r - node) + difference
    for (std::size_t k = kNodes - 1; k > 0; --k) cubic[k] = cubic[k - 1] - nodes[i] * cubic[k];
    cubic[0] = differences[i] - nodes[i] * cubic[0];
  }
  return cubic;
}

GeluTable make_table() {
  GeluTable table{};  // the last piece stays zero
  for (std::size_t i = 0; i + 1 < GeluTable::kPieces; ++i) {
    const auto place = [=](double r) {
      return (static_cast<double>(i) + r) / static_cast<double>(GeluTable::kPiecesPerUnit);
    };
    const Cubic tails = interpolate([&](double r) { return tail(place(r)); });
    const Cubic slopes = interpolate([&](double r) { return slope(place(r)); });
    for (std::size_t k = 0; k < kNodes; ++k) {
      table.tail[k][i] = static_cast<float>(tails[k]);
      table.slope[k][i] = static_cast<float>(slopes[k]);
    }
  }
  return table;
}

}  // namespace

const GeluTable& gelu_table() {
  static const GeluTable table = make_table();
  return table;
}

}  // namespace dfrost
