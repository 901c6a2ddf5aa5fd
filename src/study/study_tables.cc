#include "study/study_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "study/study_layout.h"

namespace dfrost {
namespace {

// A figure of a combination under a seed, as people read it.
std::optional<double> number_of(const StudyResults& results, const AxisValues& values, Seed seed,
                                const Figure& figure) {
  const auto* cell = results.find(values, seed);
  if (cell == nullptr) return std::nullopt;
  const auto found = cell->figures.find(std::string(figure.name));
  if (found == cell->figures.end()) return std::nullopt;
  return reading_of(figure).factor * found->second;
}

std::vector<double> differences(const StudyResults& results, const AxisValues& a, const AxisValues& b,
                                const Figure& figure) {
  std::vector<double> list;
  for (const Seed seed : results.seeds) {
    const auto x = number_of(results, a, seed, figure), y = number_of(results, b, seed, figure);
    if (x && y) list.push_back(*x - *y);
  }
  return list;
}

TableCell make_cell(const StudyResults& results, const StudyTable& table, const AxisValues& values,
                    const Figure& figure) {
  TableCell cell{.planned = true};
  std::vector<double> numbers;
  for (const Seed seed : results.seeds) {
    if (const auto number = number_of(results, values, seed, figure)) numbers.push_back(*number);
  }
  cell.seeds = numbers.size();
  cell.missing = results.seeds.size() - numbers.size();
  cell.value = mean_std(numbers);
  if (!table.baseline.empty()) {
    const auto base = moved(results.study, values, table.baseline);
    if (base != values) cell.difference = paired_difference(differences(results, values, base, figure));
  }
  return cell;
}

std::optional<double> reference_of(const Study& study, const StudyTable& table, const AxisValues& values,
                                   const Figure& figure) {
  if (!table.reference || table.reference->figure != figure.name) return std::nullopt;
  auto names = table.rows;
  names.insert(names.end(), table.columns.begin(), table.columns.end());
  for (const auto& entry : table.reference->entries) {
    bool same = true;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto axis = *study.find_axis(names[i]);
      same = same && study.axes[axis].values[values[axis]].name == entry.values[i];
    }
    if (same) return entry.number;
  }
  return std::nullopt;
}

// Under the first seed, of the first of the row's combinations.
std::optional<StudyNetwork> network_of_row(const StudyResults& results, const std::vector<AxisValues>& all,
                                           const std::vector<std::size_t>& row_axes, const AxisValues& row) {
  for (const auto& values : all) {
    if (part_of(values, row_axes) != row) continue;
    const auto cell = std::ranges::find(results.cells, values, &CellResult::values);
    if (cell != results.cells.end()) return cell->network;
  }
  return std::nullopt;
}

std::string title_with_unit(const Figure& figure) {
  const auto unit = reading_of(figure).unit;
  return unit.empty() ? std::string(figure.title) : fmt::format("{}, {}", figure.title, unit);
}

// What one line of a chart is made of, at one x.
struct Gathered {
  std::vector<double> x, y;
};

void gather(const StudyResults& results, const StudyFigure& figure, const AxisValues& values,
            std::map<double, Gathered>& at) {
  const auto& y = figure_called(figure.y);
  const auto axis = results.study.find_axis(figure.x);
  for (const Seed seed : results.seeds) {
    const auto* cell = results.find(values, seed);
    if (cell == nullptr) continue;
    if (figure.x == "round") {
      const auto curve = cell->curves.find(figure.y);
      if (curve == cell->curves.end()) continue;
      for (const auto& [round, value] : curve->second) {
        auto& point = at[static_cast<double>(round)];
        point.x.push_back(static_cast<double>(round));
        point.y.push_back(reading_of(y).factor * value);
      }
      continue;
    }
    const auto number = number_of(results, values, seed, y);
    const auto x = axis ? std::optional(static_cast<double>(values[*axis]))
                        : number_of(results, values, seed, figure_called(figure.x));
    if (!number || !x) continue;
    auto& point = at[axis ? *x : 0];  // of a figure: one point for all seeds, at their mean
    point.x.push_back(*x);
    point.y.push_back(*number);
  }
}

}  // namespace

const Figure& figure_called(std::string_view name) {
  return *std::ranges::find(figures(), name, &Figure::name);  // a study's figures are known ones
}

Reading reading_of(const Figure& figure) {
  switch (figure.form) {
    case Form::share: return {100, "%", 2};
    case Form::bytes: return {1e-6, "MB", 1};
    case Form::seconds: return {1, "s", 1};
    case Form::whole: return {1, std::string(figure.unit), 0};
    case Form::decimals: return {1, std::string(figure.unit), 4};
    case Form::significant: return {1, std::string(figure.unit), -1};
  }
  return {};
}

std::string show_number(double number, const Reading& reading) {
  return reading.digits < 0 ? fmt::format("{:.3g}", number) : fmt::format("{:.{}f}", number, reading.digits);
}

std::string_view to_string(Judgement judgement) {
  switch (judgement) {
    case Judgement::agrees: return "agrees";
    case Judgement::disagrees: return "disagrees";
    case Judgement::cannot_tell: return "cannot tell";
  }
  return "";
}

MadeTable make_table(const StudyResults& results, const StudyTable& table) {
  const auto& study = results.study;
  MadeTable made{.name = table.name, .title = table.title, .about = table.about};
  made.baseline = describe_selection(study, table.baseline);
  if (table.reference) made.reference = table.reference->title;
  const auto row_axes = axes_of(study, table.rows), column_axes = axes_of(study, table.columns);
  for (const std::size_t axis : row_axes) made.row_titles.push_back(study.axes[axis].title);
  const auto all = combinations(results, table.where);
  const auto columns = parts_of(all, column_axes);
  for (const auto& column : columns) {
    for (const auto& name : table.figures)
      made.columns.push_back({labels_of(study, column_axes, column), &figure_called(name)});
  }
  for (const auto& row : parts_of(all, row_axes)) {
    TableRow line{.labels = labels_of(study, row_axes, row), .cells = {}};
    for (const auto& column : columns) {
      const auto* values = whole_of(all, row_axes, row, column_axes, column);
      for (const auto& name : table.figures) {
        const auto& figure = figure_called(name);
        auto& cell = line.cells.emplace_back();
        if (values == nullptr) continue;
        cell = make_cell(results, table, *values, figure);
        cell.reference = reference_of(study, table, *values, figure);
      }
    }
    if (table.networks) line.network = network_of_row(results, all, row_axes, row);
    made.rows.push_back(std::move(line));
  }
  return made;
}

MadeChart make_chart(const StudyResults& results, const StudyFigure& figure) {
  const auto& study = results.study;
  MadeChart made{.name = figure.name, .title = figure.title, .about = figure.about, .log = figure.log};
  made.y_title = title_with_unit(figure_called(figure.y));
  if (const auto axis = study.find_axis(figure.x)) {
    made.x_title = study.axes[*axis].title;
    for (const auto& value : study.axes[*axis].values) made.x_labels.push_back(value.label);
  } else {
    made.dots = figure.x != "round";
    made.x_title = made.dots ? title_with_unit(figure_called(figure.x)) : "Round";
  }
  const auto line_axes = axes_of(study, figure.lines);
  const auto all = combinations(results, figure.where);
  for (const auto& part : parts_of(all, line_axes)) {
    ChartLine line;
    for (const auto& label : labels_of(study, line_axes, part))
      line.label += line.label.empty() ? label : ", " + label;
    std::map<double, Gathered> at;
    for (const auto& values : all) {
      if (part_of(values, line_axes) == part) gather(results, figure, values, at);
    }
    for (const auto& [place, point] : at) {
      const auto y = *mean_std(point.y);
      line.points.push_back({mean_std(point.x)->mean, y.mean, y.std});
    }
    if (line.label.empty()) line.label = made.y_title;  // the only one
    made.lines.push_back(std::move(line));
  }
  return made;
}

JudgedClaim judge_claim(const StudyResults& results, const StudyClaim& claim) {
  const auto& study = results.study;
  const auto& figure = figure_called(claim.figure);
  JudgedClaim judged{.text = claim.text, .unit = reading_of(figure).unit, .by = claim.by};
  // Under each seed the mean over all places where the two can be compared.
  std::vector<double> list;
  StudySelection where = claim.where;
  for (const auto& [axis, values] : claim.more) where[axis] = values;
  const auto all = combinations(results, where);
  for (const Seed seed : results.seeds) {
    std::vector<double> here;
    for (const auto& values : all) {
      const auto more = number_of(results, values, seed, figure);
      const auto less = number_of(results, moved(study, values, claim.less), seed, figure);
      if (more && less) here.push_back(*more - *less - claim.by);
    }
    if (!here.empty() && here.size() == all.size()) list.push_back(mean_std(here)->mean);
  }
  judged.difference = paired_difference(list);
  if (!judged.difference || !judged.difference->low) return judged;
  if (*judged.difference->low > 0) judged.judgement = Judgement::agrees;
  if (*judged.difference->high < 0) judged.judgement = Judgement::disagrees;
  return judged;
}

}  // namespace dfrost
