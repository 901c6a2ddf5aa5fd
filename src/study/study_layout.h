// Which combinations of a study's axes a table takes in, and where in it they stand.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "study/study_file.h"
#include "study/study_results.h"

namespace dfrost {

using AxisValues = std::vector<std::size_t>;  // one of each axis, or of some

std::vector<std::size_t> axes_of(const Study& study, const std::vector<std::string>& names);

AxisValues part_of(const AxisValues& values, const std::vector<std::size_t>& axes);

std::vector<std::string> labels_of(const Study& study, const std::vector<std::size_t>& axes,
                                   const AxisValues& part);

// The combinations that a selection takes in, in the order of the study.
std::vector<AxisValues> combinations(const StudyResults& results, const StudySelection& where);

// What is laid out along some axes, each once, in order.
std::vector<AxisValues> parts_of(const std::vector<AxisValues>& all, const std::vector<std::size_t>& axes);

// The same combination with some axes set to others' values.
AxisValues moved(const Study& study, AxisValues values, const StudySelection& to);

// For people: the labels of the values that a selection names.
std::string describe_selection(const Study& study, const StudySelection& selection);

// Where a cell's combination lies in the whole: its row's part, its column's, and the rest held; null where
// nowhere.
const AxisValues* whole_of(const std::vector<AxisValues>& all, const std::vector<std::size_t>& row_axes,
                           const AxisValues& row, const std::vector<std::size_t>& column_axes,
                           const AxisValues& column);

}  // namespace dfrost
