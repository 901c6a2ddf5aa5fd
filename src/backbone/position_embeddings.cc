#include "backbone/position_embeddings.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

namespace dfrost {
namespace {

// Where one output coordinate reads from: four neighbours and their weights.
struct Taps {
  std::array<std::size_t, 4> index;
  std::array<double, 4> weight;
};

double cubic_kernel(double distance) {
  constexpr double a = -0.75;
  const double x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

std::vector<Taps> taps_of(std::size_t size, std::size_t new_size) {
  std::vector<Taps> all(new_size);
  const double scale = static_cast<double>(size) / static_cast<double>(new_size);
  for (std::size_t i = 0; i < new_size; ++i) {
    const double source = (static_cast<double>(i) + 0.5) * scale - 0.5;
    const double base = std::floor(source);
    for (std::size_t tap = 0; tap < 4; ++tap) {
      const double position = base - 1 + static_cast<double>(tap);
      all[i].weight[tap] = cubic_kernel(source - position);
      all[i].index[tap] = static_cast<std::size_t>(std::clamp(position, 0.0, static_cast<double>(size - 1)));
    }
  }
  return all;
}

}  // namespace

std::vector<float> interpolate_positions(std::span<const float> positions, std::size_t grid,
                                         std::size_t new_grid, std::size_t width) {
  assert(positions.size() == grid * grid * width);
  const auto taps = taps_of(grid, new_grid);
  std::vector<float> result(new_grid * new_grid * width);
  std::vector<double> sum(width);
  for (std::size_t y = 0; y < new_grid; ++y) {
    for (std::size_t x = 0; x < new_grid; ++x) {
      std::fill(sum.begin(), sum.end(), 0.0);
      for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t j = 0; j < 4; ++j) {
          const double weight = taps[y].weight[i] * taps[x].weight[j];
          const float* row = positions.data() + (taps[y].index[i] * grid + taps[x].index[j]) * width;
          for (std::size_t c = 0; c < width; ++c) sum[c] += weight * double{row[c]};
        }
      }
      float* out = result.data() + (y * new_grid + x) * width;
      for (std::size_t c = 0; c < width; ++c) out[c] = static_cast<float>(sum[c]);
    }
  }
  return result;
}

}  // namespace dfrost
