#include "study/study_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "base/quote.h"
#include "base/suggest.h"
#include "config/toml_parse.h"

namespace dfrost {

std::string toml_of(const toml::node& node) {
  // The library writes more digits than tell two numbers apart.
  if (const auto number = node.value_exact<double>()) return fmt::format("{}", *number);
  std::ostringstream text;
  node.visit([&](const auto& value) { text << value; });
  return text.str();
}

StudyReader::StudyReader(const toml::table& table, const StudySource& source, std::string what)
    : table_(table), source_(source), what_(std::move(what)) {}

Error StudyReader::refusal(const toml::node* node, const std::string& message, std::string hint) const {
  const auto& at = node != nullptr ? node->source() : table_.source();
  return Error(ErrorCode::invalid_argument, message, std::move(hint)).at(locate_toml(source_.place, at));
}

const toml::node* StudyReader::find(std::string_view key) {
  asked_.emplace_back(key);
  return table_.get(key);
}

std::string StudyReader::text(std::string_view key, std::string otherwise) {
  const auto* node = find(key);
  if (node == nullptr) return otherwise;
  const auto value = node->value_exact<std::string>();
  if (!value) throw refusal(node, fmt::format("'{}' of {} is no text", key, what_));
  return *value;
}

std::string StudyReader::required_text(std::string_view key) {
  auto value = text(key, "");
  if (value.empty()) throw refusal(find(key), fmt::format("{} has no '{}'", what_, key));
  return value;
}

std::optional<double> StudyReader::number(std::string_view key) {
  const auto* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (!node->is_number()) throw refusal(node, fmt::format("'{}' of {} is no number", key, what_));
  return node->value<double>();
}

std::vector<std::string> StudyReader::texts_of(const toml::node& node, std::string_view key) const {
  std::vector<std::string> texts;
  const auto add = [&](const toml::node& entry) {
    const auto value = entry.value_exact<std::string>();
    if (!value) throw refusal(&entry, fmt::format("'{}' of {} takes names, in quotes", key, what_));
    texts.push_back(*value);
  };
  if (const auto* list = node.as_array()) {
    for (const auto& entry : *list) add(entry);
  } else {
    add(node);
  }
  return texts;
}

bool StudyReader::flag(std::string_view key) {
  const auto* node = find(key);
  if (node == nullptr) return false;
  const auto value = node->value_exact<bool>();
  if (!value) throw refusal(node, fmt::format("'{}' of {} is true or false", key, what_));
  return *value;
}

std::vector<std::string> StudyReader::texts(std::string_view key) {
  const auto* node = find(key);
  return node == nullptr ? std::vector<std::string>() : texts_of(*node, key);
}

std::vector<Seed> StudyReader::seeds(std::string_view key) {
  const auto* node = find(key);
  std::vector<Seed> seeds;
  if (node == nullptr) return seeds;
  const auto* list = node->as_array();
  if (list == nullptr || list->empty())
    throw refusal(node, "seeds are a list of whole numbers", "such as seeds = [1, 2, 3]");
  for (const auto& entry : *list) {
    const auto seed = entry.value_exact<std::int64_t>();
    if (!seed || *seed < 0) throw refusal(&entry, "a seed is a whole number, 0 or more");
    if (std::ranges::find(seeds, static_cast<Seed>(*seed)) != seeds.end())
      throw refusal(&entry, fmt::format("seed {} stands there twice", *seed));
    seeds.push_back(static_cast<Seed>(*seed));
  }
  return seeds;
}

std::vector<StudyReader> StudyReader::tables(std::string_view key) {
  std::vector<StudyReader> tables;
  const auto* node = find(key);
  if (node == nullptr) return tables;
  const auto* list = node->as_array();
  if (list == nullptr)
    throw refusal(node, fmt::format("'{0}' is no list of tables", key), fmt::format("write [[{}]]", key));
  for (const auto& entry : *list) {
    if (!entry.is_table()) throw refusal(&entry, fmt::format("'{}' holds what is no table", key));
    tables.emplace_back(*entry.as_table(), source_, fmt::format("[[{}]]", key));
  }
  return tables;
}

StudyKeys StudyReader::keys_of(const toml::table& sections) const {
  StudyKeys keys;
  for (const auto& [section, node] : sections) {
    const auto* table = node.as_table();
    if (table == nullptr)
      throw refusal(&node, fmt::format("{} is no key of an experiment", quote_name(section.str())),
                    "write section.key = value, such as train.batch = 8");
    for (const auto& [name, value] : *table) {
      const std::string key = fmt::format("{}.{}", section.str(), name.str());
      keys.push_back({fmt::format("{}={}", key, toml_of(value)),
                      locate_toml(source_.place, value.source(), key), source_.folder});
    }
  }
  return keys;
}

StudyKeys StudyReader::keys(std::string_view key) {
  const auto* node = find(key);
  if (node == nullptr) return {};
  if (!node->is_table())
    throw refusal(node, fmt::format("'{}' is no table of experiment keys", key),
                  fmt::format("such as {} = {{train.batch = 8}}", key));
  return keys_of(*node->as_table());
}

StudySelection StudyReader::selection_of(const toml::table& table) const {
  StudySelection selection;
  for (const auto& [axis, node] : table) selection[std::string(axis.str())] = texts_of(node, axis.str());
  return selection;
}

StudySelection StudyReader::selection(std::string_view key) {
  const auto* node = find(key);
  if (node == nullptr) return {};
  if (!node->is_table())
    throw refusal(node, fmt::format("'{}' of {} is no table", key, what_),
                  fmt::format("such as {} = {{method = \"dfrost\"}}", key));
  return selection_of(*node->as_table());
}

StudySelection StudyReader::whole_selection() { return selection_of(table_); }

void StudyReader::done() const {
  for (const auto& [key, node] : table_) {
    if (std::ranges::find(asked_, key.str()) != asked_.end()) continue;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("there is no key {} in {}", quote_name(key.str()), what_),
                did_you_mean(key.str(), asked_, fmt::format("its keys are {}", fmt::join(asked_, ", "))))
        .at(locate_toml(source_.place, key.source()));
  }
}

}  // namespace dfrost
