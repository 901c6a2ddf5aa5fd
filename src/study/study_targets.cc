#include "study/study_targets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "study/paired.h"
#include "study/study_chart.h"
#include "study/study_layout.h"
#include "study/study_tables.h"
#include "study/study_text.h"

namespace dfrost {
namespace {

using Known = Bounded::Known;

// The first round of a run whose figure is no less than the level; nothing where the run is not there.
std::optional<Bounded> rounds_to(const StudyResults& results, const StudyTarget& target,
                                 const AxisValues& values, Seed seed, double level) {
  const auto* cell = results.find(values, seed);
  if (cell == nullptr) return std::nullopt;
  const auto curve = cell->curves.find(target.figure);
  if (curve == cell->curves.end() || curve->second.empty()) return std::nullopt;
  const double factor = reading_of(figure_called(target.figure)).factor;
  for (const auto& [round, value] : curve->second)
    if (factor * value >= level) return Bounded{Known::exactly, static_cast<double>(round)};
  return Bounded{Known::more_than, static_cast<double>(curve->second.back().first)};
}

// Nothing where neither side is known from below and above.
std::optional<Bounded> ratio_of(const Bounded& base, const Bounded& own) {
  if (base.known == Known::more_than && own.known == Known::more_than) return std::nullopt;
  const Known known = base.known == Known::more_than  ? Known::more_than
                      : own.known == Known::more_than ? Known::less_than
                                                      : Known::exactly;
  return Bounded{known, base.value / own.value};
}

TargetCell make_target_cell(const StudyResults& results, const StudyTarget& target, const AxisValues& values,
                            double level) {
  TargetCell cell{.planned = true, .rounds = {}, .ratios = {}, .reference = {}};
  const auto base = moved(results.study, values, target.baseline);
  for (const Seed seed : results.seeds) {
    const auto own = rounds_to(results, target, values, seed, level);
    if (!own) {
      ++cell.missing;
      continue;
    }
    cell.rounds.push_back(*own);
    const auto other = base == values ? std::nullopt : rounds_to(results, target, base, seed, level);
    if (const auto ratio = other ? ratio_of(*other, *own) : std::nullopt) cell.ratios.push_back(*ratio);
  }
  return cell;
}

std::optional<double> claimed_ratio(const Study& study, const StudyTarget& target,
                                    const std::vector<std::size_t>& axes, const AxisValues& row,
                                    double level) {
  if (!target.reference) return std::nullopt;
  for (const auto& entry : target.reference->entries) {
    bool same = entry.values.back() == level_name(level);
    for (std::size_t i = 0; i < axes.size(); ++i)
      same = same && study.axes[axes[i]].values[row[i]].name == entry.values[i];
    if (same) return entry.number;
  }
  return std::nullopt;
}

std::string bounded_text(const Bounded& number, int digits) {
  const char* sign = number.known == Known::more_than ? "> " : number.known == Known::less_than ? "< " : "";
  return fmt::format("{}{:.{}f}", sign, number.value, digits);
}

std::string list_of(const std::vector<Bounded>& numbers, int digits) {
  std::vector<std::string> texts;
  for (const auto& number : numbers) texts.push_back(bounded_text(number, digits));
  return fmt::format("{}", fmt::join(texts, ", "));
}

bool all_known(const std::vector<Bounded>& numbers) {
  return std::ranges::all_of(numbers, [](const auto& number) { return number.known == Known::exactly; });
}

std::string cell_words(const MadeTarget& target, const TargetCell& cell, bool ratios) {
  if (!ratios) {
    auto text = rounds_text(cell);
    if (cell.missing > 0 && !cell.rounds.empty())
      text += fmt::format(" ({} of {} seeds)", cell.rounds.size(), cell.rounds.size() + cell.missing);
    return text;
  }
  auto text = ratio_text(cell);
  if (cell.reference)
    text += fmt::format("{}({} {:g})", text.empty() ? "" : " ", target.reference, *cell.reference);
  return text;
}

std::vector<std::string> target_headings(const MadeTarget& target) {
  auto headings = target.row_titles;
  for (const double level : target.levels)
    headings.push_back(fmt::format("{}{}{}", level_name(level), target.unit.empty() ? "" : " ", target.unit));
  return headings;
}

const char* const kRoundsRule =
    "Rounds until it was first reached, mean ± standard deviation over seeds. A run that never came there "
    "shows as "
    "> its last round; then every seed is listed and no mean is taken.";

std::string ratio_rule(const MadeTarget& target) {
  return fmt::format(
      "Times fewer rounds than {}, seed by seed: geometric mean and its 95 % interval; where a run did not "
      "come "
      "there, what each seed bounds.",
      target.baseline);
}

// The table once, by rounds or by ratios, through what writes a heading and a row.
template <class Write>
void each_row(const MadeTarget& target, bool ratios, const Write& write) {
  for (const auto& row : target.rows) {
    if (ratios && row.is_baseline) continue;
    std::vector<std::string> texts;
    for (const auto& cell : row.cells) texts.push_back(cell_words(target, cell, ratios));
    write(row, texts);
  }
}

std::string markdown_of(const MadeTarget& target, bool ratios) {
  const auto headings = target_headings(target);
  std::string text = fmt::format("| {} |\n|", fmt::join(headings, " | "));
  for (std::size_t i = 0; i < headings.size(); ++i) text += i < target.row_titles.size() ? "---|" : "---:|";
  text += "\n";
  each_row(target, ratios, [&](const TargetRow& row, const std::vector<std::string>& cells) {
    auto all = row.labels;
    all.insert(all.end(), cells.begin(), cells.end());
    text += fmt::format("| {} |\n", fmt::join(all, " | "));
  });
  return text + "\n";
}

std::string html_of(const MadeTarget& target, bool ratios) {
  std::string html = fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table "
      "id=\"{}{}\">\n<thead><tr>",
      escape_html(target.title), escape_html(target.name), ratios ? "-ratios" : "");
  const auto headings = target_headings(target);
  for (std::size_t i = 0; i < headings.size(); ++i)
    html += fmt::format("<th scope=\"col\"{}>{}</th>", i < target.row_titles.size() ? " class=\"words\"" : "",
                        escape_html(headings[i]));
  html += "</tr></thead>\n<tbody>\n";
  each_row(target, ratios, [&](const TargetRow& row, const std::vector<std::string>& cells) {
    html += "<tr>";
    for (const auto& label : row.labels) html += fmt::format("<th scope=\"row\">{}</th>", escape_html(label));
    for (const auto& cell : cells) html += fmt::format("<td>{}</td>", escape_html(cell));
    html += "</tr>\n";
  });
  return html + "</tbody></table></div>\n";
}

}  // namespace

MadeTarget make_target(const StudyResults& results, const StudyTarget& target) {
  const auto& study = results.study;
  MadeTarget made{.name = target.name, .title = target.title, .about = target.about};
  made.unit = reading_of(figure_called(target.figure)).unit;
  made.levels = target.levels;
  made.baseline = describe_selection(study, target.baseline);
  if (target.reference) made.reference = target.reference->title;
  const auto axes = axes_of(study, target.rows);
  for (const std::size_t axis : axes) made.row_titles.push_back(study.axes[axis].title);
  const auto all = combinations(results, target.where);
  for (const auto& part : parts_of(all, axes)) {
    const auto* values = whole_of(all, axes, part, {}, {});
    TargetRow row{labels_of(study, axes, part), {}, false};
    row.is_baseline = !target.baseline.empty() && moved(study, *values, target.baseline) == *values;
    for (const double level : target.levels) {
      row.cells.push_back(make_target_cell(results, target, *values, level));
      row.cells.back().reference = claimed_ratio(study, target, axes, part, level);
    }
    made.rows.push_back(std::move(row));
  }
  return made;
}

std::string rounds_text(const TargetCell& cell) {
  if (!cell.planned) return "";
  if (cell.rounds.empty()) return "-";
  if (all_known(cell.rounds)) {
    std::vector<double> numbers;
    for (const auto& rounds : cell.rounds) numbers.push_back(rounds.value);
    const auto spread = *mean_std(numbers);
    return numbers.size() == 1 ? fmt::format("{:.0f}", spread.mean)
                               : fmt::format("{:.1f} ± {:.1f}", spread.mean, spread.std);
  }
  const auto same = [&](const Bounded& rounds) {
    return rounds.known == Known::more_than && rounds.value == cell.rounds.front().value;
  };
  if (std::ranges::all_of(cell.rounds, same)) return bounded_text(cell.rounds.front(), 0);
  return list_of(cell.rounds, 0);
}

std::string ratio_text(const TargetCell& cell) {
  if (cell.ratios.empty()) return "";
  if (cell.ratios.size() < cell.rounds.size() + cell.missing || !all_known(cell.ratios))
    return list_of(cell.ratios, 1);
  std::vector<double> logs;
  for (const auto& ratio : cell.ratios) logs.push_back(std::log(ratio.value));
  const auto mean = *paired_difference(logs);
  if (!mean.low) return fmt::format("{:.1f}", std::exp(mean.mean));
  return fmt::format("{:.1f} [{:.1f}, {:.1f}]", std::exp(mean.mean), std::exp(*mean.low),
                     std::exp(*mean.high));
}

std::string target_markdown(const MadeTarget& target) {
  std::string text = fmt::format("### {}\n\n", target.title);
  if (!target.about.empty()) text += target.about + "\n\n";
  text += fmt::format("{}\n\n{}", kRoundsRule, markdown_of(target, false));
  if (target.baseline.empty()) return text;
  return text + ratio_rule(target) + "\n\n" + markdown_of(target, true);
}

std::string target_html(const MadeTarget& target) {
  const auto paragraph_of = [](std::string_view text) {
    return text.empty() ? std::string() : fmt::format("<p class=\"pale\">{}</p>\n", escape_html(text));
  };
  auto html = fmt::format("<h3>{}</h3>\n", escape_html(target.title)) + paragraph_of(target.about) +
              paragraph_of(kRoundsRule) + html_of(target, false);
  if (target.baseline.empty()) return html;
  return html + paragraph_of(ratio_rule(target)) + html_of(target, true);
}

std::string target_csv(const MadeTarget& target) {
  std::string text = fmt::format("{}{}level,rounds,ratio\n", fmt::join(target.row_titles, ","),
                                 target.row_titles.empty() ? "" : ",");
  for (const auto& row : target.rows) {
    for (std::size_t l = 0; l < row.cells.size(); ++l) {
      std::vector<std::string> cells;
      for (const auto& label : row.labels) cells.push_back(csv_field(label));
      cells.push_back(level_name(target.levels[l]));
      cells.push_back(csv_field(list_of(row.cells[l].rounds, 0)));
      cells.push_back(csv_field(list_of(row.cells[l].ratios, 3)));
      text += fmt::format("{}\n", fmt::join(cells, ","));
    }
  }
  return text;
}

}  // namespace dfrost
