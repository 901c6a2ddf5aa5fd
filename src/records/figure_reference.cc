#include "records/figure_reference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <utility>

namespace dfrost {
namespace {

template <typename Enum, std::size_t N>
using EnumNames = std::array<std::pair<Enum, std::string_view>, N>;

constexpr EnumNames<Form, 6> kForms = {{{Form::whole, "whole"},
                                        {Form::significant, "significant"},
                                        {Form::decimals, "decimals"},
                                        {Form::share, "share"},
                                        {Form::seconds, "seconds"},
                                        {Form::bytes, "bytes"}}};
constexpr EnumNames<Better, 3> kBetters = {
    {{Better::neither, ""}, {Better::lower, "lower"}, {Better::higher, "higher"}}};
constexpr EnumNames<Chart, 4> kCharts = {{{Chart::none, ""},
                                          {Chart::from_zero, "from_zero"},
                                          {Chart::zero_to_one, "zero_to_one"},
                                          {Chart::log, "log"}}};

template <typename Enum, std::size_t N>
std::string_view name_of(const EnumNames<Enum, N>& names, Enum value) {
  for (const auto& [one, name] : names) {
    if (one == value) return name;
  }
  return "";
}

std::string places_of(const Figure& figure) {
  std::vector<std::string> places;
  if (!figure.event.empty()) places.push_back(fmt::format("`{}`", figure.event));
  if (const auto path = summary_path(figure); !path.empty()) places.push_back("summary");
  if (figure.column.place > 0) places.emplace_back("compare");
  if (figure.chart != Chart::none) places.emplace_back("chart");
  return fmt::format("{}", fmt::join(places, ", "));
}

nlohmann::ordered_json to_json(const Figure& figure) {
  nlohmann::ordered_json json = {{"name", figure.name},
                                 {"title", figure.title},
                                 {"unit", figure.unit},
                                 {"form", name_of(kForms, figure.form)},
                                 {"meaning", figure.meaning}};
  if (figure.better != Better::neither) json["better"] = name_of(kBetters, figure.better);
  if (const auto path = summary_path(figure); !path.empty()) json["summary"] = path;
  if (figure.chart != Chart::none) json["chart"] = name_of(kCharts, figure.chart);
  if (figure.only_with_merges) json["only_with_merges"] = true;
  if (const auto& column = figure.column; column.place > 0) {
    json["column"] = {{"place", column.place},
                      {"name", column.name},
                      {"heading", column.page_heading.empty() ? figure.title : column.page_heading}};
  }
  return json;
}

}  // namespace

std::string figures_text() {
  std::string text;
  for (const auto& figure : figures()) {
    text += fmt::format("{}{}\n    {}\n", figure.name,
                        figure.unit.empty() ? "" : fmt::format(" ({})", figure.unit), figure.meaning);
  }
  return text;
}

std::string figures_markdown() {
  std::string text = "| field | unit | better | what it means | shown in |\n|---|---|---|---|---|\n";
  for (const auto& figure : figures()) {
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", figure.name, figure.unit,
                        name_of(kBetters, figure.better), figure.meaning, places_of(figure));
  }
  return text;
}

nlohmann::ordered_json figures_json() {
  auto list = nlohmann::ordered_json::array();
  for (const auto& figure : figures()) list.push_back(to_json(figure));
  return list;
}

}  // namespace dfrost
