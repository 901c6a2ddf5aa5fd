#include "records/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dfrost {

std::span<const Figure> figures() { return kFigures; }

std::vector<const Figure*> compared_figures() {
  std::vector<const Figure*> compared;
  for (const auto& figure : figures()) {
    if (figure.column.place > 0) compared.push_back(&figure);
  }
  std::ranges::sort(compared, {}, [](const Figure* figure) { return figure->column.place; });
  return compared;
}

std::string summary_path(const Figure& figure) {
  constexpr std::string_view kEvaluation = "evaluation.";
  std::string_view name = figure.name;
  if (figure.summary == Summary::none) return "";
  if (figure.summary == Summary::total) return std::string(name);
  if (name.starts_with(kEvaluation)) name.remove_prefix(kEvaluation.size());
  return fmt::format("final.{}", name);
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
