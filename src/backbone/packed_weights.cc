#include "backbone/packed_weights.h"

namespace dfrost {

void fold_norm(const NormWeights& norm, LinearWeights& linear) {
  for (std::size_t o = 0; o < linear.outputs; ++o) {
    float* row = linear.weight.data() + o * linear.inputs;
    double shift = 0;  // once per model, so it may as well be exact
    for (std::size_t i = 0; i < linear.inputs; ++i) {
      shift += static_cast<double>(row[i]) * norm.shift[i];
      row[i] *= norm.scale[i];
    }
    linear.bias[o] += static_cast<float>(shift);
  }
}

LinearWeights take_outputs(const LinearWeights& linear, std::size_t first, std::size_t count) {
  const auto begin = linear.weight.begin() + static_cast<std::ptrdiff_t>(first * linear.inputs);
  const auto bias = linear.bias.begin() + static_cast<std::ptrdiff_t>(first);
  return {count,
          linear.inputs,
          {begin, begin + static_cast<std::ptrdiff_t>(count * linear.inputs)},
          {bias, bias + static_cast<std::ptrdiff_t>(count)}};
}

Matrix<float> transpose(MatrixView<const float> matrix) {
  Matrix<float> out(matrix.cols(), matrix.rows());
  // In squares whose rows and columns both stay in the first-level cache.
  constexpr std::size_t kSquare = 32;
  for (std::size_t r0 = 0; r0 < matrix.rows(); r0 += kSquare) {
    for (std::size_t c0 = 0; c0 < matrix.cols(); c0 += kSquare) {
      for (std::size_t c = c0; c < std::min(c0 + kSquare, matrix.cols()); ++c) {
        for (std::size_t r = r0; r < std::min(r0 + kSquare, matrix.rows()); ++r) {
          out.data()[c * matrix.rows() + r] = matrix(r, c);
        }
      }
    }
  }
  return out;
}

}  // namespace dfrost
