// Symmetric matrices by their lower triangle, rows one after the other. In double, on the calling thread.
#pragma once

#include <cstddef>
#include <span>

namespace dfrost {

// How many numbers the lower triangle of a matrix has.
constexpr std::size_t triangle_size(std::size_t rows) { return rows * (rows + 1) / 2; }

// L with L·Lᵀ the matrix, in place (Cholesky); false, and something in between, where it is not positive.
bool factorize_triangle(std::size_t rows, std::span<double> triangle);

// The mean of its diagonal, entries below nothing counting as nothing: of a covariance, the mean eigenvalue.
double mean_of_diagonal(std::size_t rows, std::span<const double> triangle);

}  // namespace dfrost
