// The loops that all of optimal transport here spends its time in, over the rows of padded matrices, in
// double unless they say otherwise. Vectorised for the machine they run on (Highway picks the instruction set
// at run time); one thread; on one machine the same input always gives the same bytes.
// row_kernels_reference.h has slow obvious versions.
#pragma once

#include <cstddef>
#include <span>

#include "ot/matrix.h"

namespace dfrost {

// products(a, b) = ⟨row a, row b⟩, [N, N] for N rows. Symmetric to the last bit.
void gram(const DoubleMatrix& rows, DoubleMatrix& products);

// distances(i, j) = ‖a_i − b_j‖² for as many rows of a and of b as `distances` has. From differences, never
// from norms and products, so that near points far from the origin keep their digits.
void squared_distances(const DoubleMatrix& a, const DoubleMatrix& b, DoubleMatrix& distances);

// results(i, j) = ⟨a_i, b_j⟩ for as many rows of a and of b as `results` has, computed in its type.
void products(const DoubleMatrix& a, const DoubleMatrix& b, DoubleMatrix& results);
void products(const FloatMatrix& a, const FloatMatrix& b, FloatMatrix& results);
void products(const DoubleMatrix& a, const FloatMatrix& b, DoubleMatrix& results);

// sums(i, :) += Σ_k weights(k, i) · source(rows[k], :). weights is [rows.size() or more, rows of sums].
void add_weighted_rows(const DoubleMatrix& source, std::span<const std::size_t> rows,
                       const DoubleMatrix& weights, DoubleMatrix& sums);
void add_weighted_rows(const FloatMatrix& source, std::span<const std::size_t> rows,
                       const DoubleMatrix& weights, DoubleMatrix& sums);
void add_weighted_rows(const FloatMatrix& source, std::span<const std::size_t> rows,
                       const FloatMatrix& weights, FloatMatrix& sums);

// ⟨a, b⟩; both are rows of padded matrices, of the same length.
double dot(std::span<const double> a, std::span<const double> b);

// to += scale · from; both are rows of padded matrices, of the same length.
void add_scaled_row(std::span<const double> from, double scale, std::span<double> to);
void add_scaled_row(std::span<const float> from, double scale, std::span<double> to);

// The same, and returns ‖from − match‖².
double add_matched_row(std::span<const float> from, double scale, std::span<const double> match,
                       std::span<double> to);

}  // namespace dfrost
