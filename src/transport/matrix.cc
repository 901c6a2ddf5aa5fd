#include "transport/matrix.h"

#include <algorithm>
#include <cassert>
#include <new>

#include "transport/row_kernels.h"

namespace dfrost {

Matrix::Matrix(std::size_t rows, std::size_t cols)
    : rows_(rows), cols_(cols), stride_((cols + kPadding - 1) / kPadding * kPadding) {
  data_ = hwy::AllocateAligned<double>(std::max<std::size_t>(rows_ * stride_, 1));
  if (data_ == nullptr) throw std::bad_alloc();
  fill_with_zeros();
}

Matrix::Matrix(MatrixView<const float> values) : Matrix(values.rows(), values.cols()) { set_rows(0, values); }

Matrix::Matrix(const Matrix& other) : Matrix(other.rows_, other.cols_) {
  std::copy_n(other.data_.get(), rows_ * stride_, data_.get());
}

Matrix& Matrix::operator=(const Matrix& other) {
  if (rows_ == other.rows_ && cols_ == other.cols_) {
    std::copy_n(other.data_.get(), rows_ * stride_, data_.get());
  } else {
    *this = Matrix(other);
  }
  return *this;
}

void Matrix::fill_with_zeros() { std::fill_n(data_.get(), rows_ * stride_, 0.0); }

void Matrix::set_rows(std::size_t first, MatrixView<const float> values) {
  assert(first + values.rows() <= rows_ && (values.empty() || values.cols() == cols_));
  for (std::size_t r = 0; r < values.rows(); ++r) widen_row(values.row(r), row(first + r));
}

void Matrix::copy_to(MatrixView<float> values) const {
  assert(values.rows() == rows_ && values.cols() == cols_);
  for (std::size_t r = 0; r < rows_; ++r) {
    const auto to = values.row(r);
    std::transform(row(r).begin(), row(r).end(), to.begin(), [](double x) { return static_cast<float>(x); });
  }
}

}  // namespace dfrost
