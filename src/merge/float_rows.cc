#include "merge/float_rows.h"

#include <cmath>
#include <numeric>
#include <type_traits>

#include "ot/row_kernels.h"

namespace dfrost {
namespace {

// to = scale · from
void copy_scaled(const auto& from, double scale, auto& to) {
  using To = std::remove_reference_t<decltype(to(0, 0))>;
  for (std::size_t r = 0; r < to.rows(); ++r) {
    const auto in = from.row(r);
    const auto out = to.row(r);
    for (std::size_t c = 0; c < out.size(); ++c) out[c] = static_cast<To>(scale * static_cast<double>(in[c]));
  }
}

}  // namespace

FloatRows::FloatRows(const DoubleMatrix& rows, std::size_t prompts, double longest_row)
    : unit_(longest_row > 0 ? std::exp2(std::ilogb(longest_row)) : 1.0),
      every_row_(rows.rows()),
      rows_(rows.rows(), rows.cols()),
      coefficients_(rows.rows(), prompts),
      points_(prompts, rows.cols()) {
  std::iota(every_row_.begin(), every_row_.end(), std::size_t{0});
  copy_scaled(rows, 1 / unit_, rows_);
}

void FloatRows::combine(const DoubleMatrix& coefficients, DoubleMatrix& sums) const {
  sums.fill_with_zeros();
  add_weighted_rows(rows_, every_row_, coefficients, sums);
  if (unit_ != 1) copy_scaled(sums, unit_, sums);
}

void FloatRows::project(const DoubleMatrix& points, DoubleMatrix& along) const {
  products(points, rows_, along);
  if (unit_ != 1) copy_scaled(along, unit_, along);
}

void FloatRows::combine_in_floats(const DoubleMatrix& coefficients, DoubleMatrix& sums) {
  copy_scaled(coefficients, 1, coefficients_);
  points_.fill_with_zeros();
  add_weighted_rows(rows_, every_row_, coefficients_, points_);
  copy_scaled(points_, unit_, sums);
}

void FloatRows::project_in_floats(const DoubleMatrix& points, DoubleMatrix& along) {
  if (along_.cols() != along.cols()) along_ = FloatMatrix(along.rows(), along.cols());
  copy_scaled(points, 1 / unit_, points_);
  products(points_, rows_, along_);
  copy_scaled(along_, unit_ * unit_, along);
}

}  // namespace dfrost
