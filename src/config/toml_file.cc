#include "config/toml_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <deque>
#include <map>

#include "base/file.h"
#include "base/nesting.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "config/key.h"
#include "config/methods.h"
#include "config/presets.h"
#include "config/reader.h"
#include "config/toml_parse.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestFile = 1u << 20;
constexpr std::size_t kValueColumns = 32;  // comments stand behind them, or above a longer line

// A value that was given for a key, and where.
struct Given {
  const toml::node* node = nullptr;
  std::string place;
  fs::path folder;
};
using GivenValues = std::map<const ConfigKey*, Given>;

Error config_error(const std::string& message, std::string hint = {}) {
  return {ErrorCode::invalid_argument, message, std::move(hint)};
}

// The library looks at arrays and inline tables alone, and takes any number of dots in a key.
void require_shallow(std::string_view text, const std::string& place) {
  if (const auto line = line_nested_too_deep(text, NestedText::toml)) {
    throw config_error(fmt::format("tables or lists nest deeper than {}", kDeepestNesting))
        .at(fmt::format("{}, line {}", place, *line));
  }
}

std::vector<std::string> section_names() {
  std::vector<std::string> names;
  for (const auto& section : config_sections()) names.push_back(section.name);
  return names;
}

// The nearest key of that section, or the section where a key of this very name belongs.
std::string hint_for_key(std::string_view section, std::string_view name) {
  std::vector<std::string> names, elsewhere;
  for (const auto& key : config_keys()) {
    if (key.section == section) names.push_back(key.name);
    if (key.name == name) elsewhere.push_back(fmt::format("'{}'", key.full_name()));
  }
  if (!elsewhere.empty())
    return did_you_mean(name, names, did_you_mean(fmt::format("{}", fmt::join(elsewhere, " or "))));
  if (names.empty()) return {};
  return did_you_mean(name, names, fmt::format("the keys of [{}] are {}", section, fmt::join(names, ", ")));
}

Error unknown_section(std::string_view name) {
  const auto names = section_names();
  const auto near = nearest(name, names);
  return config_error(fmt::format("there is no section [{}]", name.substr(0, 100)),
                      near ? did_you_mean(fmt::format("[{}]", *near))
                           : fmt::format("the sections are {}", fmt::join(names, ", ")));
}

Error unknown_key(std::string_view section, std::string_view name) {
  return config_error(fmt::format("there is no key {} in [{}]", quote_name(name), section),
                      hint_for_key(section, name));
}

bool is_section(std::string_view name) {
  const auto sections = config_sections();
  return std::ranges::any_of(sections, [&](const auto& section) { return section.name == name; });
}

void collect_section(const std::string& section, const toml::table& table, const std::string& place,
                     const fs::path& folder, GivenValues& values) {
  for (const auto& [name, node] : table) {
    const ConfigKey* key = find_config_key(section + "." + std::string(name.str()));
    if (key == nullptr) throw unknown_key(section, name.str()).at(locate_toml(place, name.source()));
    values[key] = {&node, locate_toml(place, node.source(), key->full_name()), folder};
  }
}

void collect_file(const toml::table& file, const std::string& place, const fs::path& folder,
                  GivenValues& values) {
  for (const auto& [name, node] : file) {
    const std::string section(name.str());
    const std::string where = locate_toml(place, name.source());
    if (!node.is_table() && !is_section(section)) {
      throw config_error(fmt::format("the key {} stands before any [section]", quote_name(section)),
                         hint_for_key({}, section))
          .at(where);
    }
    if (!is_section(section)) throw unknown_section(section).at(where);
    if (!node.is_table())
      throw config_error(fmt::format("'{}' is a section, not a key", section),
                         fmt::format("write [{}]", section))
          .at(where);
    collect_section(section, *node.as_table(), place, folder, values);
  }
}

// A text needs no quotes on the command line.
bool takes_bare_words(const Field& field) {
  return std::holds_alternative<TextField>(field) || std::holds_alternative<PathField>(field) ||
         std::holds_alternative<WordField>(field) || std::holds_alternative<DomainsField>(field);
}

bool opens_a_value(std::string_view text) {
  return !text.empty() && std::string_view("\"'[{").find(text.front()) != std::string_view::npos;
}

// "train.batch=8" → the table that holds the value under "value", and the key.
toml::table parse_override(const std::string& text, const ConfigKey*& key) {
  const auto equals = text.find('=');
  if (equals == std::string::npos)
    throw config_error("an override has no '='", "write section.key=value, such as train.batch=8");
  const std::string name = text.substr(0, equals);
  std::string value = text.substr(equals + 1);
  key = find_config_key(name);
  if (key == nullptr) {
    const auto dot = name.find('.');
    if (dot == std::string::npos)
      throw config_error(fmt::format("{} has no section", quote_name(name)), hint_for_key({}, name));
    const std::string section = name.substr(0, dot);
    throw is_section(section) ? unknown_key(section, name.substr(dot + 1)) : unknown_section(section);
  }
  if (takes_bare_words(key->field) && !opens_a_value(value)) value = toml_text(value);
  require_shallow(value, "the value");
  try {
    toml::table table = toml::parse("value = " + value);
    if (table.size() == 1) return table;
  } catch (const toml::parse_error&) {
    // Said below, in terms of the command line.
  }
  throw config_error(fmt::format("{} is not {}", quote_name(value), describe_values(key->field)));
}

void collect_layer(const ConfigLayer& layer, std::deque<toml::table>& tables, GivenValues& values) {
  const ConfigKey* key = nullptr;
  try {
    tables.push_back(parse_override(layer.text, key));
  } catch (Error& error) {
    throw error.at(layer.place);
  }
  values[key] = {tables.back().get("value"), layer.place, fs::absolute(layer.folder)};
}

void read_given(const ConfigKey& key, const Given& given, RunConfig& config) {
  try {
    read_value(key, *given.node, given.folder, config);
  } catch (Error& error) {
    throw error.at(given.place);
  }
}

// What the words "dfrost+" and "four" stand for, before any other key is looked at.
void apply_presets(const GivenValues& values, RunConfig& config) {
  const ConfigKey* method = find_config_key("method.name");
  if (const auto given = values.find(method); given != values.end())
    read_given(*method, given->second, config);
  apply_method(config, config.method.name);
  const auto domains = values.find(find_config_key("data.domains"));
  if (domains == values.end()) return;
  const auto preset = corpus_preset(domains->second.node->value_or(std::string_view()));
  if (!preset) return;
  config.data.train_per_domain = preset->train_per_domain;
  config.data.test_per_domain = preset->test_per_domain;
  config.network.topology.degree = preset->domains.size();  // 5 and 4, as the paper has it
}

// validate() knows the key alone; the reader of the message needs the line that set it.
void validate_at_places(const RunConfig& config, const GivenValues& values, ConfigScope scope) {
  try {
    scope == ConfigScope::data ? config.validate_data() : config.validate();
  } catch (const Error& error) {
    const ConfigKey* key = find_config_key(error.place());
    if (key == nullptr) throw;
    const auto given = values.find(key);
    const std::string place = given != values.end() ? given->second.place
                                                    : fmt::format("{} = {}, by default", key->full_name(),
                                                                  toml_value(*key, config));
    throw Error(error.code(), error.what(), error.hint()).at(place);
  }
}

}  // namespace

std::string locate_toml(const std::string& place, const toml::source_region& source, const std::string& key) {
  const std::string where =
      fmt::format("{}, line {}, column {}", place, source.begin.line, source.begin.column);
  return key.empty() ? where : fmt::format("{} ({})", where, key);
}

toml::table parse_toml(std::string_view text, const std::string& place) {
  require_shallow(text, place);
  try {
    return toml::parse(text, std::string_view(place));
  } catch (const toml::parse_error& error) {
    throw config_error(fmt::format("not valid TOML: {}", error.description()))
        .at(locate_toml(place, error.source()));
  }
}

std::vector<ConfigLayer> layers_of(std::span<const std::string> overrides) {
  std::vector<ConfigLayer> layers;
  for (const auto& text : overrides)
    layers.push_back({text, fmt::format("--set {}", text.substr(0, 200)), fs::current_path()});
  return layers;
}

RunConfig parse_config(std::string_view text, const std::string& place, const fs::path& folder,
                       std::span<const std::string> overrides, ConfigScope scope) {
  return parse_layered_config(text, place, folder, layers_of(overrides), scope);
}

RunConfig parse_layered_config(std::string_view text, const std::string& place, const fs::path& folder,
                               std::span<const ConfigLayer> layers, ConfigScope scope) {
  const toml::table file = parse_toml(text, place);
  std::deque<toml::table> layer_tables;  // its elements stay where they are
  GivenValues values;
  collect_file(file, place, fs::absolute(folder), values);
  for (const auto& layer : layers) collect_layer(layer, layer_tables, values);
  RunConfig config;
  apply_presets(values, config);
  for (const auto& [key, given] : values) read_given(*key, given, config);
  validate_at_places(config, values, scope);
  return config;
}

RunConfig load_config(const fs::path& path, std::span<const std::string> overrides, ConfigScope scope) {
  const auto folder = fs::absolute(path).parent_path();
  return parse_config(read_text_file(path, kLargestFile), path.string(), folder, overrides, scope);
}

std::string to_toml(const RunConfig& config, TomlStyle style) {
  RunConfig usual;
  apply_method(usual, config.method.name);
  std::string text;
  for (const auto& section : config_sections()) {
    if (!text.empty()) text += "\n";
    text += fmt::format("[{}]  # {}\n", section.name, section.comment);
    for (const auto& key : config_keys()) {
      if (key.section != section.name) continue;
      const bool active = style == TomlStyle::resolved || (style == TomlStyle::starter && key.main) ||
                          !same_value(key, config, usual);
      if (!active && style == TomlStyle::own) continue;
      const std::string line = fmt::format("{}{} = {}", active ? "" : "#", key.name, toml_value(key, config));
      text += line.size() <= kValueColumns ? fmt::format("{:<{}}  # {}\n", line, kValueColumns, key.comment)
                                           : fmt::format("# {}\n{}\n", key.comment, line);
    }
  }
  return text;
}

}  // namespace dfrost
