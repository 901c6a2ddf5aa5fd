#include "kernels/triangle.h"

#include <algorithm>
#include <cmath>

namespace dfrost {

bool factorize_triangle(std::size_t rows, std::span<double> triangle) {
  for (std::size_t i = 0; i < rows; ++i) {
    double* const row = triangle.data() + triangle_size(i);
    for (std::size_t j = 0; j <= i; ++j) {
      const double* const other = triangle.data() + triangle_size(j);
      double left = row[j];
      for (std::size_t k = 0; k < j; ++k) left -= row[k] * other[k];
      if (j < i) {
        row[j] = left / other[j];
      } else if (left > 0 && std::isfinite(left)) {
        row[i] = std::sqrt(left);
      } else {
        return false;
      }
    }
  }
  return true;
}

double mean_of_diagonal(std::size_t rows, std::span<const double> triangle) {
  double trace = 0;
  for (std::size_t i = 0; i < rows; ++i) trace += std::max(triangle[triangle_size(i) + i], 0.0);
  return trace / static_cast<double>(rows);
}

}  // namespace dfrost
