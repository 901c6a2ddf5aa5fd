#include "report/settings.h"

#include <toml++/toml.h>

#include <filesystem>
#include <set>

#include "base/nesting.h"

namespace dfrost {
namespace {

Json to_json(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* whole = node.as_integer()) return whole->get();
  if (const auto* number = node.as_floating_point()) return number->get();
  if (const auto* flag = node.as_boolean()) return flag->get();
  Json json;
  if (const auto* list = node.as_array()) {
    json = Json::array();
    for (const auto& item : *list) json.push_back(to_json(item));
  }
  if (const auto* table = node.as_table()) {
    json = Json::object();
    for (const auto& [key, item] : *table) json[std::string(key.str())] = to_json(item);
  }
  return json;  // dates and times do not occur
}

std::string file_name(const Json& path) {
  return path.is_string() ? std::filesystem::path(path.get<std::string>()).filename().string()
                          : std::string();
}

}  // namespace

std::optional<Settings> parse_settings(const std::string& text) {
  if (line_nested_too_deep(text, NestedText::toml)) return std::nullopt;
  try {
    Settings settings;
    const toml::table file = toml::parse(text);
    for (const auto& [section, node] : file) {
      const auto* table = node.as_table();
      if (table == nullptr) continue;
      for (const auto& [key, value] : *table) {
        settings[std::string(section.str()) + "." + std::string(key.str())] = to_json(value);
      }
    }
    return settings;
  } catch (const toml::parse_error&) {
    return std::nullopt;
  }
}

Settings experiment_of(const Settings& settings) {
  static const std::set<std::string> kFree = {"run.name", "run.seed", "run.threads", "run.checkpoint_every",
                                              "data.root"};
  Settings experiment;
  for (const auto& [key, value] : settings) {
    if (kFree.contains(key) || key.starts_with("diagnostics.")) continue;
    experiment[key] = value;
    if (key == "backbone.path") experiment[key] = file_name(value);
    if (key == "data.domains" && value.is_array()) {
      for (auto& domain : experiment[key]) {
        if (domain.is_object() && domain.contains("path")) domain["path"] = file_name(domain["path"]);
      }
    }
  }
  return experiment;
}

std::optional<std::string> text_at(const Settings& settings, const std::string& key) {
  const auto found = settings.find(key);
  if (found == settings.end() || !found->second.is_string()) return std::nullopt;
  return found->second.get<std::string>();
}

std::optional<double> number_at(const Settings& settings, const std::string& key) {
  const auto found = settings.find(key);
  if (found == settings.end() || !found->second.is_number()) return std::nullopt;
  return found->second.get<double>();
}

}  // namespace dfrost
