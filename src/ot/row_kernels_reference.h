// What row_kernels.h computes, written so that it can be checked by eye. Tests hold the fast versions to
// these.
#pragma once

#include <span>

#include "ot/matrix.h"

namespace dfrost::reference {

inline void gram(const DoubleMatrix& rows, DoubleMatrix& products) {
  for (std::size_t a = 0; a < rows.rows(); ++a) {
    for (std::size_t b = 0; b < rows.rows(); ++b) {
      products(a, b) = 0;
      for (std::size_t k = 0; k < rows.cols(); ++k) products(a, b) += rows(a, k) * rows(b, k);
    }
  }
}

inline void products(const DoubleMatrix& a, const DoubleMatrix& b, DoubleMatrix& results) {
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < b.rows(); ++j) {
      results(i, j) = 0;
      for (std::size_t k = 0; k < a.cols(); ++k) results(i, j) += a(i, k) * b(j, k);
    }
  }
}

inline void squared_distances(const DoubleMatrix& a, const DoubleMatrix& b, DoubleMatrix& distances) {
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < b.rows(); ++j) {
      distances(i, j) = 0;
      for (std::size_t k = 0; k < a.cols(); ++k) distances(i, j) += (a(i, k) - b(j, k)) * (a(i, k) - b(j, k));
    }
  }
}

inline void add_weighted_rows(const DoubleMatrix& source, std::span<const std::size_t> rows,
                              const DoubleMatrix& weights, DoubleMatrix& sums) {
  for (std::size_t k = 0; k < rows.size(); ++k) {
    for (std::size_t i = 0; i < sums.rows(); ++i) {
      for (std::size_t c = 0; c < sums.cols(); ++c) sums(i, c) += weights(k, i) * source(rows[k], c);
    }
  }
}

}  // namespace dfrost::reference
