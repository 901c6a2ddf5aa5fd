#include "ot/matrix.h"

#include <algorithm>
#include <cassert>
#include <new>

namespace dfrost {

template <class T>
PaddedMatrix<T>::PaddedMatrix(std::size_t rows, std::size_t cols)
    : PaddedMatrix(rows, cols, static_cast<MatrixMemory*>(nullptr)) {}

template <class T>
PaddedMatrix<T>::PaddedMatrix(std::size_t rows, std::size_t cols, MatrixMemory& memory)
    : PaddedMatrix(rows, cols, &memory) {}

template <class T>
PaddedMatrix<T>::PaddedMatrix(std::size_t rows, std::size_t cols, MatrixMemory* memory)
    : rows_(rows), cols_(cols) {
  // Rows that lie a multiple of 8 cache lines apart would share few sets of the cache, and a walk down a
  // column push them out of it; one line more spreads them.
  const std::size_t lines = padded_cols() / kPadding;
  stride_ = (lines > 0 && lines % 8 == 0 ? lines + 1 : lines) * kPadding;
  const std::size_t size = std::max<std::size_t>(rows_ * stride_, 1);
  data_ = memory == nullptr
              ? hwy::AllocateAligned<T>(size)
              : hwy::AllocateAligned<T>(size, MatrixMemory::take, MatrixMemory::give_back, memory);
  if (data_ == nullptr) throw std::bad_alloc();
  fill_with_zeros();
}

template <class T>
PaddedMatrix<T>::PaddedMatrix(MatrixView<const float> values) : PaddedMatrix(values.rows(), values.cols()) {
  set_rows(0, values);
}

template <class T>
PaddedMatrix<T>::PaddedMatrix(const PaddedMatrix& other) : PaddedMatrix(other.rows_, other.cols_) {
  std::copy_n(other.data_.get(), rows_ * stride_, data_.get());
}

template <class T>
PaddedMatrix<T>& PaddedMatrix<T>::operator=(const PaddedMatrix& other) {
  if (rows_ == other.rows_ && cols_ == other.cols_) {
    std::copy_n(other.data_.get(), rows_ * stride_, data_.get());
  } else {
    *this = PaddedMatrix(other);
  }
  return *this;
}

template <class T>
void PaddedMatrix<T>::fill_with_zeros() {
  std::fill_n(data_.get(), rows_ * stride_, T{0});
}

template <class T>
void PaddedMatrix<T>::set_rows(std::size_t first, MatrixView<const float> values) {
  assert(first + values.rows() <= rows_ && (values.empty() || values.cols() == cols_));
  for (std::size_t r = 0; r < values.rows(); ++r) std::ranges::copy(values.row(r), row(first + r).begin());
}

template <class T>
void PaddedMatrix<T>::copy_to(MatrixView<float> values) const {
  assert(values.rows() == rows_ && values.cols() == cols_);
  for (std::size_t r = 0; r < rows_; ++r) {
    const auto to = values.row(r);
    std::transform(row(r).begin(), row(r).end(), to.begin(), [](T x) { return static_cast<float>(x); });
  }
}

template class PaddedMatrix<float>;
template class PaddedMatrix<double>;

}  // namespace dfrost
