#include "study/study_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "study/study_targets.h"

namespace dfrost {
namespace {

std::string signed_number(double number, const Reading& reading) {
  const auto text = show_number(number, reading);
  return number < 0 ? text : "+" + text;
}

// A pipe would end a cell.
std::string markdown_cell(std::string text) {
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2))
    text.insert(at, "\\");
  return text;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const auto& cell : cells) line += fmt::format(" {} |", markdown_cell(cell));
  return line + "\n";
}

enum class Shown { values, differences };

std::vector<std::string> row_texts(const MadeTable& table, const TableRow& row, Shown shown,
                                   const char* plus_minus) {
  std::vector<std::string> texts = row.labels;
  for (std::size_t c = 0; c < row.cells.size(); ++c) {
    const auto& cell = row.cells[c];
    const auto& figure = *table.columns[c].figure;
    if (shown == Shown::differences) {
      texts.push_back(cell.difference ? difference_text(*cell.difference, reading_of(figure)) : "");
      continue;
    }
    texts.push_back(cell_text(cell, figure, plus_minus));
    if (cell.missing > 0 && cell.seeds > 0)
      texts.back() += fmt::format(" ({} of {} seeds)", cell.seeds, cell.seeds + cell.missing);
    if (cell.reference)
      texts.back() +=
          fmt::format(" ({} {})", table.reference, show_number(*cell.reference, reading_of(figure)));
  }
  return texts;
}

std::vector<std::string> headings(const MadeTable& table) {
  std::vector<std::string> titles = table.row_titles;
  for (const auto& column : table.columns) titles.push_back(heading_of(table, column));
  return titles;
}

bool has_differences(const TableRow& row) {
  return std::ranges::any_of(row.cells, [](const auto& cell) { return cell.difference.has_value(); });
}

std::string table_markdown(const MadeTable& table, Shown shown) {
  const auto titles = headings(table);
  std::string text = markdown_row(titles) + "|";
  for (std::size_t i = 0; i < titles.size(); ++i) text += i < table.row_titles.size() ? "---|" : "---:|";
  text += "\n";
  for (const auto& row : table.rows) {
    if (shown == Shown::differences && !has_differences(row)) continue;
    text += markdown_row(row_texts(table, row, shown, " ± "));
  }
  return text + "\n";
}

std::string latex_text(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (std::string_view("&%$#_{}").find(c) != std::string_view::npos) safe += '\\';
    if (c == '\\')
      safe += "\\textbackslash{}";
    else if (c == '~')
      safe += "\\textasciitilde{}";
    else if (c == '^')
      safe += "\\textasciicircum{}";
    else
      safe += c;
  }
  return safe;
}

std::string csv_number(const std::optional<double>& number) {
  return number ? fmt::format("{}", *number) : "";
}

}  // namespace

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

const char* const kClaimRule =
    "A claim agrees where the whole 95 % interval (Student's t) of the mean paired difference over seeds "
    "lies above what is "
    "claimed, disagrees where the whole of it lies below, and otherwise, or with fewer than two seeds, one "
    "cannot tell.";

std::string cell_text(const TableCell& cell, const Figure& figure, const char* plus_minus) {
  if (!cell.planned) return "";
  if (!cell.value) return "-";
  const auto reading = reading_of(figure);
  if (cell.seeds == 1) return show_number(cell.value->mean, reading);
  return show_number(cell.value->mean, reading) + plus_minus + show_number(cell.value->std, reading);
}

std::string difference_text(const PairedDifference& difference, const Reading& reading) {
  auto mean = signed_number(difference.mean, reading);
  if (!difference.low) return mean;
  return fmt::format("{} [{}, {}]", mean, signed_number(*difference.low, reading),
                     signed_number(*difference.high, reading));
}

std::string heading_of(const MadeTable& table, const TableColumn& column) {
  std::string text = fmt::format("{}", fmt::join(column.labels, ", "));
  const bool one_figure = std::ranges::all_of(
      table.columns, [&](const auto& other) { return other.figure == table.columns.front().figure; });
  if (!text.empty() && one_figure) return text;
  const auto unit = reading_of(*column.figure).unit;
  const auto figure =
      unit.empty() ? std::string(column.figure->title) : fmt::format("{}, {}", column.figure->title, unit);
  return text.empty() ? figure : fmt::format("{}: {}", text, figure);
}

std::string claim_text(const JudgedClaim& claim) {
  if (!claim.difference) return "no seed has all of it";
  const auto& difference = *claim.difference;
  const Reading reading{1, claim.unit, 2};
  const auto text =
      fmt::format("{}{}{}", difference_text(difference, reading), claim.unit.empty() ? "" : " ", claim.unit);
  return fmt::format(
      "{}, {} seed{}{}", text, difference.seeds, difference.seeds == 1 ? "" : "s",
      claim.by == 0 ? "" : fmt::format(", beyond the {} claimed", show_number(claim.by, reading)));
}

std::string time_text(const StudyResults& results) {
  const auto seconds = results.seconds();
  const auto time = seconds < 120    ? fmt::format("{:.0f} seconds", seconds)
                    : seconds < 7200 ? fmt::format("{:.0f} minutes", seconds / 60)
                                     : fmt::format("{:.1f} hours", seconds / 3600);
  const auto runs = results.runs();
  const auto precisions = results.precisions();
  return fmt::format("{} run{}{}, {} of computing", runs, runs == 1 ? "" : "s",
                     precisions.empty() ? "" : fmt::format(" in {}", fmt::join(precisions, " and ")), time);
}

std::string seeds_text(const StudyResults& results) {
  return fmt::format("Seed{} {}", results.seeds.size() == 1 ? "" : "s", fmt::join(results.seeds, ", "));
}

std::vector<std::string> gaps_of(const StudyResults& results) {
  std::vector<std::string> gaps;
  std::size_t missing = 0;
  std::map<Seed, std::size_t> lacks;
  std::map<std::string, std::vector<std::string>> failed;  // by reason
  for (const auto& cell : results.cells) {
    if (cell.done) continue;
    ++missing;
    ++lacks[cell.seed];
    if (!cell.failure.empty())
      failed[cell.failure].push_back(
          fmt::format("{}, seed {}", describe(results.study, cell.values), cell.seed));
  }
  if (missing > 0) {
    const std::size_t of_each = results.cells.size() / std::max<std::size_t>(1, results.seeds.size());
    std::vector<std::string> by_seed;
    for (const auto& [seed, count] : lacks)
      by_seed.push_back(fmt::format("{} of seed {}", count == of_each ? "all" : std::to_string(count), seed));
    gaps.push_back(fmt::format("{} of {} combinations of axes and seeds are not there: {}.", missing,
                               results.cells.size(), fmt::join(by_seed, ", ")));
  }
  for (const auto& [why, who] : failed)
    gaps.push_back(fmt::format("Failed: {}{}: {}", who.front(),
                               who.size() == 1 ? "" : fmt::format(" and {} more", who.size() - 1), why));
  return gaps;
}

std::string study_markdown(const StudyResults& results) {
  const auto& study = results.study;
  std::string text = fmt::format("## {}\n\n", study.title);
  if (!study.about.empty()) text += study.about + "\n\n";
  if (!results.scale.empty()) text += fmt::format("Scale `{}`: {}\n\n", results.scale, results.scale_words);
  text += fmt::format("{}; mean ± standard deviation over them. {}.\n\n`{}`\n\n", seeds_text(results),
                      time_text(results), results.command);
  for (const auto& gap : gaps_of(results)) text += fmt::format("**{}**\n\n", gap);
  for (const auto& asked : study.tables) {
    const auto table = make_table(results, asked);
    text += fmt::format("### {}\n\n", table.title);
    if (!table.about.empty()) text += table.about + "\n\n";
    text += table_markdown(table, Shown::values);
    if (table.baseline.empty()) continue;
    text += fmt::format("Less {}, seed by seed: mean difference and its 95 % interval.\n\n", table.baseline);
    text += table_markdown(table, Shown::differences);
  }
  for (const auto& asked : study.targets) text += target_markdown(make_target(results, asked));
  if (study.claims.empty()) return text;
  text += fmt::format("### Claims\n\n{}\n\n", kClaimRule);
  text += "| claim | judgement | mean paired difference, 95 % interval |\n|---|---|---|\n";
  for (const auto& asked : study.claims) {
    const auto claim = judge_claim(results, asked);
    text += markdown_row({claim.text, fmt::format("**{}**", to_string(claim.judgement)), claim_text(claim)});
  }
  return text + "\n";
}

std::string table_latex(const MadeTable& table) {
  std::string text =
      fmt::format("% {}\n\\begin{{tabular}}{{{}{}}}\n\\hline\n", table.title,
                  std::string(table.row_titles.size(), 'l'), std::string(table.columns.size(), 'r'));
  const auto line = [](const std::vector<std::string>& cells) {
    std::vector<std::string> safe;
    for (const auto& cell : cells) safe.push_back(latex_text(cell));
    return fmt::format("{} \\\\\n", fmt::join(safe, " & "));
  };
  text += line(headings(table)) + "\\hline\n";
  for (const auto& row : table.rows) {
    auto written = line(row_texts(table, row, Shown::values, " +- "));
    for (std::size_t at; (at = written.find(" +- ")) != std::string::npos;)
      written.replace(at, 4, " $\\pm$ ");
    text += written;
  }
  return text + "\\hline\n\\end{tabular}\n";
}

std::string table_csv(const MadeTable& table) {
  std::string text;
  for (const auto& title : table.row_titles) text += csv_field(title) + ",";
  text += "column,figure,unit,mean,std,seeds,difference,low,high,reference\n";
  for (const auto& row : table.rows) {
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      const auto& cell = row.cells[c];
      const auto& column = table.columns[c];
      if (!cell.planned) continue;
      for (const auto& label : row.labels) text += csv_field(label) + ",";
      const auto& d = cell.difference;
      text += fmt::format("{},{},{},{},{},{},{},{},{},{}\n",
                          csv_field(fmt::format("{}", fmt::join(column.labels, ", "))), column.figure->name,
                          csv_field(reading_of(*column.figure).unit),
                          cell.value ? fmt::format("{}", cell.value->mean) : "",
                          cell.value && cell.seeds > 1 ? fmt::format("{}", cell.value->std) : "", cell.seeds,
                          d ? fmt::format("{}", d->mean) : "", d ? csv_number(d->low) : "",
                          d ? csv_number(d->high) : "", csv_number(cell.reference));
    }
  }
  return text;
}

}  // namespace dfrost
