// A matrix for the inner loops. Every row starts on a cache line and is followed by zeros up to the end of
// its last one, so that kernels read whole vectors to the end of a row and never need a tail.
#pragma once

#include <hwy/aligned_allocator.h>

#include <cstddef>
#include <span>

#include "dfrost/matrix_view.h"
#include "ot/matrix_memory.h"

namespace dfrost {

template <class T>
class PaddedMatrix {
 public:
  static constexpr std::size_t kPadding = 64 / sizeof(T);

  PaddedMatrix() = default;
  PaddedMatrix(std::size_t rows, std::size_t cols);  // zeros
  PaddedMatrix(std::size_t rows, std::size_t cols, MatrixMemory& memory);
  explicit PaddedMatrix(MatrixView<const float> values);

  PaddedMatrix(const PaddedMatrix& other);
  PaddedMatrix& operator=(const PaddedMatrix& other);
  PaddedMatrix(PaddedMatrix&&) noexcept = default;
  PaddedMatrix& operator=(PaddedMatrix&&) noexcept = default;

  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }
  std::size_t padded_cols() const { return (cols_ + kPadding - 1) / kPadding * kPadding; }
  std::size_t stride() const { return stride_; }  // from row to row: padded_cols() or more

  std::span<T> row(std::size_t r) { return {data_.get() + r * stride_, cols_}; }
  std::span<const T> row(std::size_t r) const { return {data_.get() + r * stride_, cols_}; }
  T& operator()(std::size_t r, std::size_t c) { return data_[r * stride_ + c]; }
  T operator()(std::size_t r, std::size_t c) const { return data_[r * stride_ + c]; }

  void fill_with_zeros();
  // Rows [first, first + values.rows()) become `values`; both have the same number of columns.
  void set_rows(std::size_t first, MatrixView<const float> values);
  // Rounds to float.
  void copy_to(MatrixView<float> values) const;

 private:
  PaddedMatrix(std::size_t rows, std::size_t cols, MatrixMemory* memory);

  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
  std::size_t stride_ = 0;
  hwy::AlignedFreeUniquePtr<T[]> data_;
};

extern template class PaddedMatrix<float>;
extern template class PaddedMatrix<double>;

// Doubles are what transport is computed in; floats carry what is small beside it.
using DoubleMatrix = PaddedMatrix<double>;
using FloatMatrix = PaddedMatrix<float>;

}  // namespace dfrost
