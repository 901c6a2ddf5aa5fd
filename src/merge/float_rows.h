// The rows of a neighbourhood as floats, which is what they came as: half the memory to read. Sums over them
// are taken in double, or in float where they are small beside the rows.
#pragma once

#include <cstddef>
#include <vector>

#include "ot/matrix.h"

namespace dfrost {

class FloatRows {
 public:
  // Every value of `rows` is that of a float.
  FloatRows(const DoubleMatrix& rows, std::size_t prompts, double longest_row);

  // sums(i, :) = Σ_k coefficients(k, i) · row_k
  void combine(const DoubleMatrix& coefficients, DoubleMatrix& sums) const;
  // along(i, a) = ⟨point_i, row_a⟩ for the first along.cols() rows
  void project(const DoubleMatrix& points, DoubleMatrix& along) const;

  // The same in floats: twice as fast.
  void combine_in_floats(const DoubleMatrix& coefficients, DoubleMatrix& sums);
  void project_in_floats(const DoubleMatrix& points, DoubleMatrix& along);

 private:
  // A power of two near the longest row, in which the rows are kept: so no float product leaves the range.
  double unit_;
  std::vector<std::size_t> every_row_;
  FloatMatrix rows_;
  FloatMatrix coefficients_;
  FloatMatrix points_;
  FloatMatrix along_;
};

}  // namespace dfrost
