#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/quote.h"
#include "base/suggest.h"
#include "dfrost/error.h"
#include "dfrost/figures.h"
#include "records/figure_table.h"

namespace dfrost {
namespace {

std::size_t index_of(std::string_view name) {
  const auto known = known_figures();
  const auto found = std::ranges::find(known, name, &FigureInfo::name);
  if (found != known.end()) return static_cast<std::size_t>(found - known.begin());
  std::vector<std::string> names;
  for (const auto& figure : known) names.emplace_back(figure.name);
  const auto near = nearest(name, names);
  throw Error(ErrorCode::invalid_argument, fmt::format("there is no figure {}", quote_name(name)),
              near ? fmt::format("did you mean '{}'?", *near) : "known_figures() lists them");
}

}  // namespace

std::span<const FigureInfo> known_figures() {
  static const std::vector<FigureInfo> known = [] {
    std::vector<FigureInfo> infos;
    for (const auto& figure : figures())
      infos.push_back({figure.name, figure.title, figure.unit, figure.meaning, figure.better});
    return infos;
  }();
  return known;
}

FigureValues::FigureValues() : values_(known_figures().size()) {}

std::optional<double> FigureValues::get(std::string_view name) const { return values_[index_of(name)]; }

void FigureValues::set(std::string_view name, double value) { values_[index_of(name)] = value; }

std::vector<std::string_view> FigureValues::names() const {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (values_[i]) names.push_back(known_figures()[i].name);
  }
  return names;
}

}  // namespace dfrost
