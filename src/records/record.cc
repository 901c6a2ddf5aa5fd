#include "records/record.h"

#include <fmt/format.h>

#include <cmath>

namespace dfrost {

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
