// The loops that all of optimal transport here spends its time in, in double, over the rows of padded
// matrices. Vectorised for the machine they run on (Highway picks the instruction set at run time); one
// thread; on one machine the same input always gives the same bytes. row_kernels_reference.h has slow obvious
// versions.
#pragma once

#include <cstddef>
#include <span>

#include "transport/matrix.h"

namespace dfrost {

// products(a, b) = ⟨row a, row b⟩, [N, N] for N rows. Symmetric to the last bit.
void gram(const Matrix& rows, Matrix& products);

// distances(i, j) = ‖a_i − b_j‖² for as many rows of a and of b as `distances` has. From differences, never
// from norms and products, so that near points far from the origin keep their digits.
void squared_distances(const Matrix& a, const Matrix& b, Matrix& distances);

// sums(i, :) += Σ_k weights(k, i) · source(rows[k], :). weights is [rows.size() or more, rows of sums].
void add_weighted_rows(const Matrix& source, std::span<const std::size_t> rows, const Matrix& weights,
                       Matrix& sums);

// to += scale · from; both are rows of padded matrices, of the same length.
void add_scaled_row(std::span<const double> from, double scale, std::span<double> to);

// to = from; `to` is a row of a padded matrix.
void widen_row(std::span<const float> from, std::span<double> to);

}  // namespace dfrost
