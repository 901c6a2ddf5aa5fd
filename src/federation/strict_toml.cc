#include "federation/strict_toml.h"

#include <fmt/format.h>

#include "base/malformed.h"
#include "base/quote.h"

namespace dfrost {

void refuse_deep_toml(std::string_view text) {
  constexpr std::size_t kMostDots = 100;
  std::size_t dots = 0;
  for (const char c : text) {
    if (c == '\n') dots = 0;
    if (c == '.' && ++dots > kMostDots) malformed(fmt::format("a line has more than {} dots", kMostDots));
  }
}

toml::table parse_strict_toml(std::string_view text) {
  refuse_deep_toml(text);
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    malformed(fmt::format("not valid TOML in line {}: {}", error.source().begin.line, error.description()));
  }
}

const toml::node* StrictTable::find(const std::string& key) {
  asked_.insert(key);
  return table_.get(key);
}

std::string StrictTable::text(const std::string& key, std::size_t longest) {
  const auto* node = find(key);
  const auto* value = node == nullptr ? nullptr : node->as_string();
  if (value == nullptr) malformed(fmt::format("its '{}' is missing or is no text", key));
  if (value->get().size() > longest) malformed(fmt::format("its '{}' is longer than {} bytes", key, longest));
  return value->get();
}

std::uint64_t StrictTable::number(const std::string& key, std::uint64_t most) {
  const auto* node = find(key);
  const auto* value = node == nullptr ? nullptr : node->as_integer();
  if (value == nullptr || value->get() < 0 || static_cast<std::uint64_t>(value->get()) > most)
    malformed(fmt::format("its '{}' is missing or is no whole number from 0 to {}", key, most));
  return static_cast<std::uint64_t>(value->get());
}

std::vector<std::string> StrictTable::texts(const std::string& key, std::size_t most, std::size_t longest) {
  const auto* node = find(key);
  const auto* list = node == nullptr ? nullptr : node->as_array();
  if (list == nullptr || list->size() > most)
    malformed(fmt::format("its '{}' is missing or is no list of at most {} texts", key, most));
  std::vector<std::string> result;
  for (const auto& entry : *list) {
    const auto* value = entry.as_string();
    if (value == nullptr || value->get().size() > longest)
      malformed(fmt::format("its '{}' holds what is no text of at most {} bytes", key, longest));
    result.push_back(value->get());
  }
  return result;
}

std::vector<const toml::table*> StrictTable::tables(const std::string& key, std::size_t most) {
  std::vector<const toml::table*> result;
  const auto* node = find(key);
  if (node == nullptr) return result;
  const auto* list = node->as_array();
  if (list == nullptr || list->size() > most)
    malformed(fmt::format("its '{}' is no list of at most {} tables", key, most));
  for (const auto& entry : *list) {
    if (!entry.is_table()) malformed(fmt::format("its '{}' holds what is no table", key));
    result.push_back(entry.as_table());
  }
  return result;
}

void StrictTable::done() const {
  for (const auto& [key, node] : table_) {
    if (asked_.contains(std::string(key.str()))) continue;
    throw Error(ErrorCode::data_loss, fmt::format("this dfrost knows no {} in it", quote_name(key.str())),
                "was it made by a later version?");
  }
}

}  // namespace dfrost
