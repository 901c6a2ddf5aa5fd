#include "records/figure_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "records/record.h"

namespace dfrost {

namespace {

template <typename Part>
const Part* pointer(const std::optional<Part>& part) {
  return part ? &*part : nullptr;
}

}  // namespace

template <>
const RoundRecord* part_of(const RoundRecord& record) {
  return &record;
}
template <>
const StageSeconds* part_of(const RoundRecord& record) {
  return &record.seconds;
}
template <>
const EvaluationRecord* part_of(const RoundRecord& record) {
  return pointer(record.evaluation);
}
template <>
const TheoryRecord* part_of(const RoundRecord& record) {
  return pointer(record.theory);
}
template <>
const ClassMassRecord* part_of(const RoundRecord& record) {
  return pointer(record.class_mass);
}
template <>
const PrivacyRecord* part_of(const RoundRecord& record) {
  return pointer(record.privacy);
}
template <>
const MembershipRecord* part_of(const RoundRecord& record) {
  return pointer(record.membership);
}
template <>
const AttackRecord* part_of(const RoundRecord& record) {
  return pointer(record.attack);
}
template <>
const DefenceRecord* part_of(const RoundRecord& record) {
  return pointer(record.defence);
}
template <>
const KernelRecord* part_of(const RoundRecord& record) {
  return pointer(record.kernel);
}
template <>
const AttackRecord::Scores* part_of(const RoundRecord& record) {
  return record.attack ? pointer(record.attack->honest) : nullptr;
}

std::span<const Figure> figures() {
  static const std::vector<Figure> all = [] {
    std::vector<Figure> rows;
    for (const std::span<const Figure> part : std::initializer_list<std::span<const Figure>>{
             kRoundFigures, kSecondsFigures, kEvaluationFigures, kMergeFigures, kPrivacyFigures,
             kAttackFigures, kKernelFigures})
      rows.insert(rows.end(), part.begin(), part.end());
    return rows;
  }();
  return all;
}

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

}  // namespace dfrost
