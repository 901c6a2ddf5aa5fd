// `dfrost compare`: the final figures of runs as a table, mean ± std over seeds.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "cli/command.h"
#include "cli/report_files.h"
#include "records/figure_table.h"
#include "report/groups.h"

namespace dfrost::cli {
namespace {

struct CompareArguments {
  std::vector<std::string> runs;
  bool json = false;
};

std::string spread(const std::optional<MeanStd>& figure, double scale, int digits, bool several) {
  if (!figure) return "-";
  const auto mean = fmt::format("{:.{}f}", scale * figure->mean, digits);
  return several ? fmt::format("{} ± {:.{}f}", mean, scale * figure->std, digits) : mean;
}

// Characters, not bytes: a ± takes two.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string cell(const Figure& figure, const std::optional<MeanStd>& value, bool several) {
  switch (figure.form) {
    case Form::share: return spread(value, 100, 2, several);
    case Form::decimals: return spread(value, 1, 4, several);
    case Form::whole:
    case Form::seconds: return spread(value, 1, 1, several);
    case Form::bytes: return spread(value, 1e-6, 1, false);
    case Form::significant: break;
  }
  return value ? fmt::format("{:.3g}", value->mean) : "-";
}

std::vector<std::string> headings() {
  std::vector<std::string> row = {"", "runs"};
  for (const auto* figure : compared_figures()) row.emplace_back(figure->column.heading);
  row.emplace_back("paper %");
  return row;
}

std::vector<std::string> row_of(const Group& group) {
  std::vector<std::string> row = {printable(group.label), fmt::format("{}", group.runs.size())};
  const auto compared = compared_figures();
  for (std::size_t i = 0; i < compared.size(); ++i) {
    row.push_back(cell(*compared[i], group.figures[i], group.runs.size() > 1));
  }
  row.push_back(group.paper ? fmt::format("{:.2f}", group.paper->accuracy) : "-");
  return row;
}

void print_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width_of(row[c]));
  }
  for (const auto& row : rows) {
    std::string line = row[0] + std::string(widths[0] - width_of(row[0]), ' ');
    for (std::size_t c = 1; c < row.size(); ++c) {
      line += "  " + std::string(widths[c] - width_of(row[c]), ' ') + row[c];
    }
    fmt::print("{}\n", line);
  }
}

void compare(const CompareArguments& arguments) {
  const auto [paths, runs] = read_runs(arguments.runs);
  const auto groups = group_runs(runs);
  print_problems(runs);
  if (arguments.json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const auto& group : groups) {
      auto json = to_json(group);
      json["folders"] = nlohmann::ordered_json::array();
      for (const std::size_t run : group.runs) json["folders"].push_back(paths[run]);
      list.push_back(std::move(json));
    }
    return print_json(list);
  }
  std::vector<std::vector<std::string>> rows = {headings()};
  for (const auto& group : groups) rows.push_back(row_of(group));
  print_table(rows);
}

}  // namespace

void add_compare_command(CLI::App& app) {
  auto* command =
      add_command(app, "compare",
                  "Final figures of runs as a table; equal experiments with different seeds as mean ± std.",
                  {"dfrost compare runs/*", "dfrost compare runs/ot-* runs/average-* --json"});
  auto arguments = std::make_shared<CompareArguments>();
  command->add_option("run", arguments->runs, "Folders of runs")->required();
  add_json_flag(*command, arguments->json);
  command->callback([arguments] { compare(*arguments); });
}

}  // namespace dfrost::cli
