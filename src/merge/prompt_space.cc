#include "merge/prompt_space.h"

#include <algorithm>

#include "ot/row_kernels.h"

namespace dfrost {

std::vector<double> squared_norms(const DoubleMatrix& rows) {
  DoubleMatrix norms(1, rows.rows());
  squared_distances(DoubleMatrix(1, rows.cols()), rows, norms);
  return {norms.row(0).begin(), norms.row(0).end()};
}

bool products_suffice(std::span<const double> squared_norms, double sharpness) {
  constexpr double kRounding = 16 * 2.2e-16;
  return kRounding * *std::ranges::max_element(squared_norms) * sharpness <= kTolerableExponentError;
}

MergeForm choose_form(const DoubleMatrix& rows, std::size_t prompts, std::size_t steps, double sharpness) {
  if (!products_suffice(squared_norms(rows), sharpness)) return MergeForm::direct;
  // Multiply-adds in double. Most merges have come near to rest after so many steps, and what follows is
  // cheap in either form.
  constexpr double kStepsThatMove = 8;
  const auto n = static_cast<double>(prompts), s = std::min(static_cast<double>(steps), kStepsThatMove);
  const auto count = static_cast<double>(rows.rows()), width = static_cast<double>(rows.cols());
  const double gram_cost = count * count * (width / 2 + n * s);
  const double direct_cost = 2 * count * n * width * s;
  return gram_cost <= direct_cost ? MergeForm::gram : MergeForm::direct;
}

}  // namespace dfrost
