#include "run/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dfrost {

Spread spread_of(const std::vector<double>& values) {
  if (values.empty()) return {};
  const double count = static_cast<double>(values.size());
  Spread spread;
  for (const double value : values) spread.mean += value / count;
  for (const double value : values) spread.std += (value - spread.mean) * (value - spread.mean) / count;
  spread.std = std::sqrt(spread.std);
  spread.min = *std::ranges::min_element(values);
  spread.max = *std::ranges::max_element(values);
  return spread;
}

std::string shown(double figure, std::string_view format) {
  return std::isnan(figure) ? "-" : fmt::vformat(format, fmt::make_format_args(figure));
}

StageSeconds& StageSeconds::operator+=(const StageSeconds& other) {
  train += other.train;
  exchange += other.exchange;
  merge += other.merge;
  evaluate += other.evaluate;
  measure += other.measure;
  return *this;
}

}  // namespace dfrost
