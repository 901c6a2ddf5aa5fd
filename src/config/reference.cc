#include "config/reference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "config/methods.h"
#include "config/presets.h"

namespace dfrost {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kOpening =
    "# The experiment file\n\n"
    "Written by `dfrost config explain --markdown`; a test compares the two.\n\n"
    "An experiment is one TOML file. Every key has a default, so a file holds only what differs: `dfrost "
    "config init` "
    "writes one to start from,\n`dfrost config show FILE` prints all that it stands for, and "
    "`dfrost config explain KEY` says what a key means. A key can be set for one run\nwith "
    "`--set section.key=value`. What is misspelt or does not fit together is refused with the line it stands "
    "in.\n\n"
    "Relative paths count from the folder of the file; those of `--set` from the working folder.\n\n";

Json json_domain(const DomainSpec& domain) {
  Json entry = {{"name", domain.name}};
  if (!domain.path.empty()) entry["path"] = domain.path.string();
  if (!domain.format.empty()) entry["format"] = domain.format;
  if (domain.train) entry["train"] = *domain.train;
  if (domain.test) entry["test"] = *domain.test;
  return entry;
}

struct JsonValue {
  const RunConfig& config;

  template <typename FieldType>
  Json operator()(const FieldType& field) const {
    return field.place.of(config);
  }
  Json operator()(const PathField& field) const { return field.place.of(config).string(); }
  Json operator()(const WordField& field) const { return field.words.at(field.get(config)); }
  Json operator()(const DomainsField& field) const {
    Json list = Json::array();
    for (const auto& domain : field.place.of(config)) list.push_back(json_domain(domain));
    return list;
  }
};

// "5; 1 with d-psgd, d-psgd+".
std::string describe_default(const ConfigKey& key, std::string_view quotes) {
  std::string text = fmt::format("{0}{1}{0}", quotes, toml_value(key, RunConfig{}));
  if (key.full_name() == "method.name") return text;
  std::map<std::string, std::vector<std::string>> by_value;
  for (const auto& [method, value] : method_defaults(key)) by_value[value].push_back(method);
  for (const auto& [value, methods] : by_value)
    text += fmt::format("; {0}{1}{0} with {2}", quotes, value, fmt::join(methods, ", "));
  return text;
}

std::string method_table() {
  std::string text =
      "## Methods\n\nWhat `method.name` sets; every other key keeps its default. Keys in the file win.\n\n"
      "| `method.name` | what it is | sets |\n|---|---|---|\n";
  for (const auto& method : method_presets()) {
    RunConfig config;
    apply_method(config, method.name);
    std::vector<std::string> set;
    for (const auto& key : config_keys()) {
      if (key.full_name() != "method.name" && !same_value(key, config, RunConfig{}))
        set.push_back(fmt::format("`{} = {}`", key.full_name(), toml_value(key, config)));
    }
    text += fmt::format("| `{}` | {}: {} | {} |\n", method.name, method.title, method.summary,
                        set.empty() ? "the defaults" : fmt::format("{}", fmt::join(set, ", ")));
  }
  return text;
}

std::string starter_table() {
  std::string text = "\n## Files to start from\n\n| `dfrost config init` | |\n|---|---|\n";
  for (const auto& preset : experiment_presets())
    text += fmt::format("| `{}` | {} |\n", preset.name, preset.summary);
  return text;
}

// A bar would end the cell of a table.
std::string in_a_cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// The comment, the explanation, and what the paper says.
std::string long_text(const ConfigKey& key) {
  std::string text = key.comment + ".";
  if (!key.explanation.empty()) text += " " + key.explanation;
  if (!key.paper.empty()) text += fmt::format(" *Paper: {}.*", key.paper);
  return in_a_cell(text);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> method_defaults(const ConfigKey& key) {
  std::vector<std::pair<std::string, std::string>> result;
  for (const auto& method : method_presets()) {
    RunConfig config;
    apply_method(config, method.name);
    if (!same_value(key, config, RunConfig{})) result.emplace_back(method.name, toml_value(key, config));
  }
  return result;
}

std::string explain_key(const ConfigKey& key) {
  std::string text = fmt::format("{}: {}\n", key.full_name(), key.comment);
  text += fmt::format("  takes    {}\n", describe_values(key.field));
  text += fmt::format("  default  {}\n", describe_default(key, ""));
  if (!key.paper.empty()) text += fmt::format("  paper    {}\n", key.paper);
  if (!key.explanation.empty()) text += fmt::format("\n{}\n", key.explanation);
  return text;
}

Json explain_key_json(const ConfigKey& key) {
  Json methods = Json::object();
  if (key.full_name() != "method.name") {
    for (const auto& preset : method_presets()) {
      RunConfig config;
      apply_method(config, preset.name);
      if (!same_value(key, config, RunConfig{}))
        methods[preset.name] = std::visit(JsonValue{config}, key.field);
    }
  }
  const RunConfig usual;
  return {{"key", key.full_name()},
          {"takes", describe_values(key.field)},
          {"default", std::visit(JsonValue{usual}, key.field)},
          {"method_defaults", methods},
          {"comment", key.comment},
          {"explanation", key.explanation},
          {"paper", key.paper}};
}

std::string config_reference_page() {
  std::string text(kOpening);
  for (const auto& section : config_sections()) {
    text += fmt::format("## [{}]\n\n{}\n\n| key | takes | default | |\n|---|---|---|---|\n", section.name,
                        section.comment);
    for (const auto& key : config_keys()) {
      if (key.section != section.name) continue;
      text += fmt::format("| `{}` | {} | {} | {} |\n", key.name, describe_values(key.field),
                          describe_default(key, "`"), long_text(key));
    }
    text += "\n";
  }
  return text + method_table() + starter_table();
}

Json to_json(const RunConfig& config) {
  Json document = Json::object();
  for (const auto& key : config_keys())
    document[key.section][key.name] = std::visit(JsonValue{config}, key.field);
  return document;
}

}  // namespace dfrost
