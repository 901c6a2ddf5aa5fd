// A row-major matrix that somebody else owns: pointer, rows, columns, and the distance between rows in
// elements. Passed by value, like std::span.
#pragma once

#include <cassert>
#include <cstddef>
#include <span>
#include <type_traits>

namespace dfrost {

template <typename T>
class MatrixView {
 public:
  MatrixView() = default;
  MatrixView(T* data, std::size_t rows, std::size_t cols, std::size_t stride)
      : data_(data), rows_(rows), cols_(cols), stride_(stride) {
    assert(stride >= cols);
  }
  MatrixView(T* data, std::size_t rows, std::size_t cols) : MatrixView(data, rows, cols, cols) {}

  // A view that may write is also one that only reads.
  template <typename U>
  requires(std::is_same_v<const U, T> && !std::is_const_v<U>) MatrixView(const MatrixView<U>& other)
      : MatrixView(other.data(), other.rows(), other.cols(), other.stride()) {}

  T* data() const { return data_; }
  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }
  std::size_t stride() const { return stride_; }
  bool empty() const { return rows_ == 0 || cols_ == 0; }

  std::span<T> row(std::size_t r) const {
    assert(r < rows_);
    return {data_ + r * stride_, cols_};
  }
  T& operator()(std::size_t r, std::size_t c) const {
    assert(r < rows_ && c < cols_);
    return data_[r * stride_ + c];
  }
  // Rows [first, first + count).
  MatrixView rows_from(std::size_t first, std::size_t count) const {
    assert(first + count <= rows_);
    return {data_ + first * stride_, count, cols_, stride_};
  }

 private:
  T* data_ = nullptr;
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
  std::size_t stride_ = 0;
};

}  // namespace dfrost
