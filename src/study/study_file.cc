#include "study/study_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/file.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "config/toml_parse.h"
#include "records/figure_table.h"
#include "study/shipped_studies.h"
#include "study/study_reader.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestStudy = 1u << 20;

// A name becomes part of a file's name and of an attribute of the page.
bool is_plain(std::string_view name) {
  return !name.empty() && name.size() <= 60 && name.front() != '.' && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_' || c == '+';
  });
}

std::string plain_name(StudyReader& reader, std::string_view key) {
  auto name = reader.required_text(key);
  if (!is_plain(name))
    throw reader.refusal(reader.find(key), fmt::format("{} is no plain name", quote_name(name)),
                         "letters, digits and . - _ +, at most 60 of them");
  return name;
}

// A figure by its own name or by that of its column in `dfrost compare`.
std::string figure_name(const StudyReader& reader, const std::string& name) {
  std::vector<std::string> known;
  for (const auto& figure : figures()) {
    if (figure.name == name || (figure.column.place > 0 && figure.column.name == name))
      return std::string(figure.name);
    known.emplace_back(figure.name);
    if (figure.column.place > 0) known.emplace_back(figure.column.name);
  }
  throw reader.refusal(nullptr, fmt::format("there is no figure {}", quote_name(name)),
                       did_you_mean(name, known, "'dfrost export --figures' lists them"));
}

StudyValue read_value_table(StudyReader reader) {
  StudyValue value;
  value.name = plain_name(reader, "name");
  value.label = reader.text("label", value.name);
  value.keys = reader.keys("set");
  if (const auto* at = reader.find("at")) {
    if (!at->is_table()) throw reader.refusal(at, "'at' is no table of scales");
    StudyReader scales(*at->as_table(), reader.source(), "'at'");
    for (const auto& [scale, keys] : *at->as_table())
      value.at[std::string(scale.str())] = scales.keys(scale.str());
  }
  reader.done();
  return value;
}

// One key of the experiment, and what it is set to: 0.1 names itself.
StudyValue read_plain_value(const StudyReader& reader, const std::string& key, const toml::node& node) {
  StudyValue value;
  const std::string text = toml_of(node);
  value.name = node.value_exact<std::string>().value_or(text);
  if (!is_plain(value.name))
    throw reader.refusal(&node, fmt::format("{} names no value", quote_name(text)),
                         "write {name = \"…\", set = {section.key = …}}");
  value.label = value.name;
  value.keys = {{fmt::format("{}={}", key, text), locate_toml(reader.source().place, node.source(), key),
                 reader.source().folder}};
  return value;
}

StudyAxis read_axis(StudyReader reader) {
  StudyAxis axis;
  axis.name = plain_name(reader, "name");
  axis.title = reader.text("title", axis.name);
  const auto key = reader.text("key", "");
  const auto* values = reader.find("values");
  if (values == nullptr || !values->is_array() || values->as_array()->empty())
    throw reader.refusal(values, fmt::format("axis '{}' has no list of values", axis.name),
                         "values = [{name = \"…\", set = {…}}, …]; or with key = \"section.key\" plain ones");
  for (const auto& node : *values->as_array()) {
    if (const auto* table = node.as_table()) {
      axis.values.push_back(read_value_table(StudyReader(*table, reader.source(), "a value")));
    } else if (!key.empty()) {
      axis.values.push_back(read_plain_value(reader, key, node));
    } else {
      throw reader.refusal(&node, "this value does not say what it sets",
                           "write {name = \"…\", set = {…}}, or give the axis a key = \"section.key\"");
    }
    const auto same = [&](const auto& value) { return value.name == axis.values.back().name; };
    if (std::ranges::count_if(axis.values, same) > 1)
      throw reader.refusal(&node,
                           fmt::format("axis '{}' has '{}' twice", axis.name, axis.values.back().name));
  }
  reader.done();
  return axis;
}

StudyScale read_scale(StudyReader reader) {
  StudyScale scale;
  scale.name = plain_name(reader, "name");
  scale.words = reader.required_text("words");
  scale.seeds = reader.seeds("seeds");
  scale.keys = reader.keys("set");
  reader.done();
  return scale;
}

class Checker {
 public:
  Checker(const Study& study) : study_(study) {}

  void selection(const StudyReader& reader, const StudySelection& chosen) const {
    for (const auto& [axis, values] : chosen) {
      const auto& found = this->axis(reader, axis);
      for (const auto& value : values) {
        if (found.find(value)) continue;
        std::vector<std::string> known;
        for (const auto& other : found.values) known.push_back(other.name);
        throw reader.refusal(nullptr, fmt::format("axis '{}' has no value {}", axis, quote_name(value)),
                             did_you_mean(value, known, fmt::format("it has {}", fmt::join(known, ", "))));
      }
    }
  }

  const StudyAxis& axis(const StudyReader& reader, const std::string& name) const {
    if (const auto found = study_.find_axis(name)) return study_.axes[*found];
    std::vector<std::string> known;
    for (const auto& other : study_.axes) known.push_back(other.name);
    throw reader.refusal(nullptr, fmt::format("there is no axis {}", quote_name(name)),
                         did_you_mean(name, known, fmt::format("there are {}", fmt::join(known, ", "))));
  }

  // Every axis is laid out once, or held at one value.
  void layout(const StudyReader& reader, const std::vector<std::string>& laid_out,
              const StudySelection& where) const {
    for (const auto& name : laid_out) {
      axis(reader, name);
      if (std::ranges::count(laid_out, name) > 1)
        throw reader.refusal(nullptr, fmt::format("axis '{}' is laid out twice", name));
    }
    for (const auto& axis : study_.axes) {
      if (std::ranges::find(laid_out, axis.name) != laid_out.end() || axis.values.size() == 1) continue;
      const auto held = where.find(axis.name);
      if (held != where.end() && held->second.size() == 1) continue;
      throw reader.refusal(nullptr,
                           fmt::format("axis '{}' is neither laid out nor held at one value", axis.name),
                           fmt::format("add it to the rows, or write where = {{{} = \"{}\"}}", axis.name,
                                       axis.values.front().name));
    }
  }

 private:
  const Study& study_;
};

// `axes`: how many names stand before each number.
StudyReference read_reference(StudyReader reader, const std::string& figure, std::size_t axes) {
  StudyReference reference;
  reference.title = reader.text("title", "paper");
  reference.figure = figure_name(reader, reader.text("figure", figure));
  const auto* values = reader.find("values");
  if (values == nullptr || !values->is_array())
    throw reader.refusal(values, "a reference has no list of values",
                         "values = [[\"row\", \"column\", 81.9], …]");
  for (const auto& node : *values->as_array()) {
    const auto* list = node.as_array();
    if (list == nullptr || list->size() != axes + 1 || !list->back().is_number())
      throw reader.refusal(&node, fmt::format("this is not {} value names and a number", axes),
                           "one name for each axis of rows and columns, then the number");
    StudyReference::Entry entry;
    for (std::size_t i = 0; i < axes; ++i) entry.values.push_back(list->get(i)->value_or(std::string()));
    entry.number = list->back().value_or(0.0);
    reference.entries.push_back(std::move(entry));
  }
  reader.done();
  return reference;
}

StudyTable read_table(StudyReader reader, const Checker& check) {
  StudyTable table;
  table.name = plain_name(reader, "name");
  table.title = reader.text("title", table.name);
  table.about = reader.text("about", "");
  table.rows = reader.texts("rows");
  table.columns = reader.texts("columns");
  for (const auto& name : reader.texts("figures")) table.figures.push_back(figure_name(reader, name));
  if (table.figures.empty()) table.figures = {"evaluation.accuracy_masked.mean"};
  table.where = reader.selection("where");
  table.baseline = reader.selection("baseline");
  table.networks = reader.flag("networks");
  auto laid_out = table.rows;
  laid_out.insert(laid_out.end(), table.columns.begin(), table.columns.end());
  check.layout(reader, laid_out, table.where);
  check.selection(reader, table.where);
  check.selection(reader, table.baseline);
  if (const auto* node = reader.find("reference")) {
    if (!node->is_table()) throw reader.refusal(node, "'reference' is no table");
    table.reference = read_reference(StudyReader(*node->as_table(), reader.source(), "a reference"),
                                     table.figures.front(), laid_out.size());
    for (const auto& entry : table.reference->entries) {
      for (std::size_t i = 0; i < laid_out.size(); ++i)
        check.selection(reader, {{laid_out[i], {entry.values[i]}}});
    }
  }
  reader.done();
  return table;
}

// A reference's level is written as a name: "85".
void check_target_reference(const StudyReader& reader, const StudyTarget& target, const Checker& check) {
  for (const auto& entry : target.reference->entries) {
    for (std::size_t i = 0; i < target.rows.size(); ++i)
      check.selection(reader, {{target.rows[i], {entry.values[i]}}});
    const auto names_level = [&](double level) { return level_name(level) == entry.values.back(); };
    if (std::ranges::none_of(target.levels, names_level))
      throw reader.refusal(nullptr,
                           fmt::format("a reference names no level {}", quote_name(entry.values.back())),
                           "levels are written as names there: [\"row\", \"85\", 4.6]");
  }
}

StudyTarget read_target(StudyReader reader, const Checker& check) {
  StudyTarget target;
  target.name = plain_name(reader, "name");
  target.title = reader.text("title", target.name);
  target.about = reader.text("about", "");
  target.figure = figure_name(reader, reader.text("figure", "accuracy_masked"));
  const auto* levels = reader.find("levels");
  if (levels == nullptr || !levels->is_array() || levels->as_array()->empty())
    throw reader.refusal(levels, fmt::format("target '{}' has no levels", target.name),
                         "levels = [70, 80], in the unit that tables show");
  for (const auto& level : *levels->as_array()) {
    if (!level.is_number()) throw reader.refusal(&level, "a level is no number");
    target.levels.push_back(level.value_or(0.0));
  }
  target.rows = reader.texts("rows");
  target.where = reader.selection("where");
  target.baseline = reader.selection("baseline");
  check.layout(reader, target.rows, target.where);
  check.selection(reader, target.where);
  check.selection(reader, target.baseline);
  if (const auto* node = reader.find("reference")) {
    if (!node->is_table()) throw reader.refusal(node, "'reference' is no table");
    target.reference = read_reference(StudyReader(*node->as_table(), reader.source(), "a reference"),
                                      target.figure, target.rows.size() + 1);
    check_target_reference(reader, target, check);
  }
  reader.done();
  return target;
}

StudyFigure read_figure(StudyReader reader, const Study& study, const Checker& check) {
  StudyFigure figure;
  figure.name = plain_name(reader, "name");
  figure.title = reader.text("title", figure.name);
  figure.about = reader.text("about", "");
  figure.y = figure_name(reader, reader.text("y", "accuracy_masked"));
  figure.x = reader.text("x", "round");
  const bool along_axis = study.find_axis(figure.x).has_value();
  if (figure.x != "round" && !along_axis) figure.x = figure_name(reader, figure.x);
  figure.lines = reader.texts("lines");
  figure.where = reader.selection("where");
  const auto scale = reader.text("scale", "plain");
  if (scale != "plain" && scale != "log")
    throw reader.refusal(reader.find("scale"), fmt::format("there is no scale {}", quote_name(scale)),
                         "scale = \"log\", or \"plain\"");
  figure.log = scale == "log";
  auto laid_out = figure.lines;
  if (along_axis) laid_out.push_back(figure.x);
  check.layout(reader, laid_out, figure.where);
  check.selection(reader, figure.where);
  reader.done();
  return figure;
}

StudyClaim read_claim(StudyReader reader, const Checker& check) {
  StudyClaim claim;
  claim.text = reader.required_text("text");
  claim.figure = figure_name(reader, reader.text("figure", "accuracy_masked"));
  claim.more = reader.selection("more");
  claim.less = reader.selection("less");
  claim.where = reader.selection("where");
  claim.by = reader.number("by").value_or(0);
  for (const auto* chosen : {&claim.more, &claim.less, &claim.where}) check.selection(reader, *chosen);
  const auto one_each = [](const StudySelection& chosen) {
    return !chosen.empty() &&
           std::ranges::all_of(chosen, [](const auto& axis) { return axis.second.size() == 1; });
  };
  if (!one_each(claim.more) || !one_each(claim.less))
    throw reader.refusal(nullptr, "a claim compares one value of an axis with another",
                         "more = {method = \"dfrost\"}, less = {method = \"dfedavgm\"}");
  reader.done();
  return claim;
}

void read_base(StudyReader& reader, Study& study) {
  const auto* node = reader.find("base");
  if (node == nullptr || !node->is_table())
    throw reader.refusal(node, "a study has no [base]",
                         "[base] with preset = \"five\" or config = \"my.toml\"");
  StudyReader base(*node->as_table(), reader.source(), "[base]");
  study.base_preset = base.text("preset", "");
  if (const auto file = base.text("config", ""); !file.empty()) study.base_config = study.folder / file;
  if (study.base_preset.empty() == study.base_config.empty())
    throw base.refusal(nullptr, "[base] names one experiment to start from",
                       "preset = \"five\", or config = \"my.toml\"");
  study.base_keys = base.keys("set");
  base.done();
}

template <typename Named>
void require_own_names(const StudyReader& reader, const std::vector<Named>& all, std::string_view what) {
  std::set<std::string> names;
  for (const auto& one : all) {
    if (!names.insert(one.name).second)
      throw reader.refusal(nullptr, fmt::format("two {} are called '{}'", what, one.name));
  }
}

}  // namespace

std::string level_name(double level) { return fmt::format("{}", level); }

std::optional<std::size_t> StudyAxis::find(std::string_view value) const {
  const auto found = std::ranges::find(values, value, &StudyValue::name);
  if (found == values.end()) return std::nullopt;
  return static_cast<std::size_t>(found - values.begin());
}

std::optional<std::size_t> Study::find_axis(std::string_view axis) const {
  const auto found = std::ranges::find(axes, axis, &StudyAxis::name);
  if (found == axes.end()) return std::nullopt;
  return static_cast<std::size_t>(found - axes.begin());
}

const StudyScale* Study::scale(std::string_view scale_name) const {
  if (scale_name.empty()) return scales.empty() ? nullptr : &scales.front();
  std::vector<std::string> known;
  for (const auto& scale : scales) {
    if (scale.name == scale_name) return &scale;
    known.push_back(scale.name);
  }
  throw Error(
      ErrorCode::invalid_argument, fmt::format("study '{}' has no scale {}", name, quote_name(scale_name)),
      known.empty() ? "it has one size: leave --scale out"
                    : did_you_mean(scale_name, known, fmt::format("it has {}", fmt::join(known, ", "))))
      .at(place);
}

Study parse_study(std::string_view text, const std::string& name, const std::string& place,
                  const fs::path& folder) {
  const toml::table file = parse_toml(text, place);
  const StudySource source{place, fs::absolute(folder)};
  StudyReader reader(file, source, "a study");
  Study study;
  study.text = text;
  study.place = place;
  study.folder = source.folder;
  study.name = reader.has("name") ? plain_name(reader, "name") : name;
  study.title = reader.text("title", study.name);
  study.about = reader.text("about", "");
  study.seeds = reader.seeds("seeds");
  if (study.seeds.empty()) study.seeds = {1, 2, 3};
  read_base(reader, study);
  for (auto& axis : reader.tables("axis")) study.axes.push_back(read_axis(axis));
  for (auto& scale : reader.tables("scale")) study.scales.push_back(read_scale(scale));
  const Checker check(study);
  for (const auto& [key, list] : {std::pair("leave_out", &study.left_out), std::pair("add", &study.added)}) {
    for (auto& table : reader.tables(key)) {
      list->push_back(table.whole_selection());
      check.selection(table, list->back());
    }
  }
  for (auto& table : reader.tables("table")) study.tables.push_back(read_table(table, check));
  for (auto& target : reader.tables("target")) study.targets.push_back(read_target(target, check));
  for (auto& figure : reader.tables("figure")) study.figures.push_back(read_figure(figure, study, check));
  for (auto& claim : reader.tables("claim")) study.claims.push_back(read_claim(claim, check));
  require_own_names(reader, study.axes, "axes");
  require_own_names(reader, study.scales, "scales");
  require_own_names(reader, study.tables, "tables");
  require_own_names(reader, study.targets, "targets");
  require_own_names(reader, study.figures, "figures");
  reader.done();
  return study;
}

Study load_study(const std::string& file_or_name) {
  const fs::path file = find_study(file_or_name);
  return parse_study(read_text_file(file, kLargestStudy), file.stem().string(), file.string(),
                     fs::absolute(file).parent_path());
}

}  // namespace dfrost
