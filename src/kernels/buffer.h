// Memory for kernels: aligned to a cache line (a whole AVX-512 register), never initialised, and kept when it
// shrinks, so that a buffer used once per step is allocated once. Large ones ask for huge pages: a matrix of
// megabytes would otherwise wait for the TLB.
#pragma once

#include <sys/mman.h>

#include <cassert>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

#include "dfrost/matrix_view.h"

namespace dfrost {

template <typename T>
class AlignedBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t size) { resize(size); }

  // The old content is gone when this has to allocate.
  void resize(std::size_t size) {
    if (size > capacity_) {
      data_.reset();  // free first: two large buffers need not live at once
      capacity_ = size_ = 0;
      const bool large = size * sizeof(T) >= kHugePage;
      const std::align_val_t alignment{large ? kHugePage : kCacheLine};
      T* const fresh = static_cast<T*>(::operator new(size * sizeof(T), alignment));
      if (large) ::madvise(fresh, size * sizeof(T), MADV_HUGEPAGE);  // only advice: may be refused
      data_ = {fresh, Free{alignment}};
      capacity_ = size;
    }
    size_ = size;
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return capacity_ * sizeof(T); }
  T& operator[](std::size_t i) { return data_.get()[i]; }
  const T& operator[](std::size_t i) const { return data_.get()[i]; }
  operator std::span<T>() { return {data(), size_}; }
  operator std::span<const T>() const { return {data(), size_}; }

 private:
  static constexpr std::size_t kCacheLine = 64;
  static constexpr std::size_t kHugePage = std::size_t{2} << 20;
  struct Free {
    std::align_val_t alignment{kCacheLine};
    void operator()(T* p) const { ::operator delete(p, alignment); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

// An owned row-major matrix without padding between rows.
template <typename T>
class Matrix {
 public:
  Matrix() = default;
  Matrix(std::size_t rows, std::size_t cols) { resize(rows, cols); }

  void resize(std::size_t rows, std::size_t cols) {
    rows_ = rows;
    cols_ = cols;
    buffer_.resize(rows * cols);
  }
  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }
  std::size_t bytes() const { return buffer_.bytes(); }
  T* data() { return buffer_.data(); }
  const T* data() const { return buffer_.data(); }
  std::span<T> row(std::size_t r) { return view().row(r); }
  std::span<const T> row(std::size_t r) const { return view().row(r); }
  MatrixView<T> view() { return {buffer_.data(), rows_, cols_}; }
  MatrixView<const T> view() const { return {buffer_.data(), rows_, cols_}; }
  operator MatrixView<T>() { return view(); }
  operator MatrixView<const T>() const { return view(); }

 private:
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
  AlignedBuffer<T> buffer_;
};

}  // namespace dfrost
