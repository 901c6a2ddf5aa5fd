// A matrix of doubles for the inner loops. Every row starts on a cache line and is followed by zeros up to a
// multiple of kPadding, so that kernels read whole vectors to the end of a row and never need a tail.
#pragma once

#include <hwy/aligned_allocator.h>

#include <cstddef>
#include <span>

#include "dfrost/matrix_view.h"

namespace dfrost {

class Matrix {
 public:
  static constexpr std::size_t kPadding = 8;

  Matrix() = default;
  Matrix(std::size_t rows, std::size_t cols);  // zeros
  explicit Matrix(MatrixView<const float> values);

  Matrix(const Matrix& other);
  Matrix& operator=(const Matrix& other);
  Matrix(Matrix&&) = default;
  Matrix& operator=(Matrix&&) = default;

  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }
  std::size_t stride() const { return stride_; }

  std::span<double> row(std::size_t r) { return {data_.get() + r * stride_, cols_}; }
  std::span<const double> row(std::size_t r) const { return {data_.get() + r * stride_, cols_}; }
  double& operator()(std::size_t r, std::size_t c) { return data_[r * stride_ + c]; }
  double operator()(std::size_t r, std::size_t c) const { return data_[r * stride_ + c]; }

  void fill_with_zeros();
  // Rows [first, first + values.rows()) become `values`; both have the same number of columns.
  void set_rows(std::size_t first, MatrixView<const float> values);
  // Rounds to float.
  void copy_to(MatrixView<float> values) const;

 private:
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
  std::size_t stride_ = 0;
  hwy::AlignedFreeUniquePtr<double[]> data_;
};

}  // namespace dfrost
