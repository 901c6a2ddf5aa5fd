#include "study/study_layout.h"

#include <algorithm>

namespace dfrost {

std::vector<std::size_t> axes_of(const Study& study, const std::vector<std::string>& names) {
  std::vector<std::size_t> axes;
  for (const auto& name : names) axes.push_back(*study.find_axis(name));
  return axes;
}

AxisValues part_of(const AxisValues& values, const std::vector<std::size_t>& axes) {
  AxisValues part;
  for (const std::size_t axis : axes) part.push_back(values[axis]);
  return part;
}

std::vector<std::string> labels_of(const Study& study, const std::vector<std::size_t>& axes,
                                   const AxisValues& part) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < axes.size(); ++i) labels.push_back(study.axes[axes[i]].values[part[i]].label);
  return labels;
}

std::vector<AxisValues> combinations(const StudyResults& results, const StudySelection& where) {
  std::vector<AxisValues> found;
  for (const auto& cell : results.cells) {
    if (!selects(results.study, where, cell.values)) continue;
    if (std::ranges::find(found, cell.values) == found.end()) found.push_back(cell.values);
  }
  return found;
}

std::vector<AxisValues> parts_of(const std::vector<AxisValues>& all, const std::vector<std::size_t>& axes) {
  std::vector<AxisValues> parts;
  for (const auto& values : all) {
    auto part = part_of(values, axes);
    if (std::ranges::find(parts, part) == parts.end()) parts.push_back(std::move(part));
  }
  std::ranges::sort(parts);
  return parts;
}

AxisValues moved(const Study& study, AxisValues values, const StudySelection& to) {
  for (const auto& [axis, names] : to) {
    const auto place = *study.find_axis(axis);
    values[place] = *study.axes[place].find(names.front());
  }
  return values;
}

std::string describe_selection(const Study& study, const StudySelection& selection) {
  std::string text;
  for (const auto& [axis, names] : selection) {
    const auto& found = study.axes[*study.find_axis(axis)];
    if (!text.empty()) text += ", ";
    text += found.values[*found.find(names.front())].label;
  }
  return text;
}

const AxisValues* whole_of(const std::vector<AxisValues>& all, const std::vector<std::size_t>& row_axes,
                           const AxisValues& row, const std::vector<std::size_t>& column_axes,
                           const AxisValues& column) {
  const auto found = std::ranges::find_if(all, [&](const AxisValues& values) {
    return part_of(values, row_axes) == row && part_of(values, column_axes) == column;
  });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace dfrost
