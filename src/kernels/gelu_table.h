// GELU and its derivative for results that are rounded to bf16, in thirty-two cubics: a third of the
// instructions of the exact formula, with errors below 1e-6 and 3e-6. Both come from functions of |x| alone,
// tail(a) = Φ(-a) and slope(a) = Φ(-a) - a·φ(a):
//   gelu(x) = max(x, 0) - |x|·tail(|x|)       gelu'(x) = x < 0 ? slope(|x|) : 1 - slope(|x|)
#pragma once

#include <cstddef>

namespace dfrost {

struct GeluTable {
  static constexpr std::size_t kPieces = 32, kCoefficients = 4;
  static constexpr float kEnd = 5.3f;  // from here on both functions are taken for zero
  static constexpr float kPiecesPerUnit = (kPieces - 1) / kEnd;
  // [k][i] is the coefficient of rᵏ in piece i, around a = i / kPiecesPerUnit; r runs from -½ to ½.
  alignas(64) float tail[kCoefficients][kPieces];
  alignas(64) float slope[kCoefficients][kPieces];
};

// Made once, by interpolation.
const GeluTable& gelu_table();

}  // namespace dfrost
