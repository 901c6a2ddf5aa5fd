// What the bf16 tests share: random matrices, the layouts read back as doubles, and a tolerance for what
// rounding to bf16 (relative error 2⁻⁹) may do to a result.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"
#include "kernels/bf16_matrix.h"
#include "kernels/buffer.h"

namespace dfrost::test {

inline Matrix<float> random_floats(std::size_t rows, std::size_t cols, Seed seed, double deviation = 1) {
  RandomStream stream(seed, "bf16 test");
  Matrix<float> m(rows, cols);
  for (std::size_t i = 0; i < rows * cols; ++i) m.data()[i] = static_cast<float>(deviation * stream.normal());
  return m;
}

// Numbers that bf16 holds exactly, so that an oracle in double starts from the same inputs.
inline Matrix<float> random_bf16_floats(std::size_t rows, std::size_t cols, Seed seed, double deviation = 1) {
  auto m = random_floats(rows, cols, seed, deviation);
  for (std::size_t i = 0; i < rows * cols; ++i) m.data()[i] = to_float(to_bf16(m.data()[i]));
  return m;
}

template <class M>
Matrix<double> doubles_of(const M& m) {
  Matrix<double> out(m.rows(), m.cols());
  for (std::size_t r = 0; r < m.rows(); ++r) {
    for (std::size_t c = 0; c < m.cols(); ++c) {
      if constexpr (requires { m.at(r, c); }) {
        out.row(r)[c] = static_cast<double>(m.at(r, c));
      } else {
        out.row(r)[c] = static_cast<double>(m.row(r)[c]);
      }
    }
  }
  return out;
}

inline RowMatrix row_matrix_of(const Matrix<float>& m) {
  RowMatrix out(m.rows(), m.cols());
  for (std::size_t r = 0; r < m.rows(); ++r) {
    for (std::size_t c = 0; c < m.cols(); ++c) out.row(r)[c] = to_bf16(m.row(r)[c]);
  }
  return out;
}

// |a - b| ≤ relative·|b| + absolute, element by element.
inline void expect_close(const Matrix<double>& a, const Matrix<double>& b, double relative, double absolute) {
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.cols(), b.cols());
  for (std::size_t r = 0; r < a.rows(); ++r) {
    for (std::size_t c = 0; c < a.cols(); ++c) {
      ASSERT_NEAR(a.row(r)[c], b.row(r)[c], relative * std::abs(b.row(r)[c]) + absolute) << r << ", " << c;
    }
  }
}

}  // namespace dfrost::test
