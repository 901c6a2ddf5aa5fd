#include "config/reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "backbone/backbone_names.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

// A value as a message shows it.
std::string show(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return quote_name(*text);
  if (const auto number = node.value_exact<std::int64_t>()) return fmt::format("{}", *number);
  if (const auto number = node.value_exact<double>()) return fmt::format("{}", *number);
  if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
  if (node.is_table()) return "a table";
  if (node.is_array()) return "this list";
  return "a date or time";
}

Error refusal(const toml::node& node, const std::string& wanted, std::string hint = {}) {
  return {ErrorCode::invalid_argument, fmt::format("{} is not {}", show(node), wanted), std::move(hint)};
}

std::string hint_among(std::string_view word, std::span<const std::string> known) {
  return did_you_mean(word, known, fmt::format("there are {}", fmt::join(known, ", ")));
}

// TOML's whole numbers are signed and of 64 bits.
std::optional<std::size_t> whole_number(const toml::node& node) {
  const auto number = node.value_exact<std::int64_t>();
  if (!number || *number < 0) return std::nullopt;
  return static_cast<std::size_t>(*number);
}

fs::path resolve(const fs::path& folder, const std::string& text) {
  return text.empty() ? fs::path() : (folder / text).lexically_normal();
}

DomainSpec read_domain_table(const toml::table& table, const fs::path& folder) {
  static const std::vector<std::string> known = {"name", "path", "format", "train", "test"};
  DomainSpec domain;
  for (const auto& [key, node] : table) {
    const auto text = node.value_exact<std::string>();
    const auto number = whole_number(node);
    if (key == "name" && text) {
      domain.name = *text;
    } else if (key == "path" && text) {
      domain.path = resolve(folder, *text);
    } else if (key == "format" && text) {
      const auto formats = format_names();
      if (std::ranges::find(formats, *text) == formats.end())
        throw Error(ErrorCode::invalid_argument, fmt::format("there is no format {}", quote_name(*text)),
                    hint_among(*text, formats));
      domain.format = *text;
    } else if (key == "train" && number) {
      domain.train = *number;
    } else if (key == "test" && number) {
      domain.test = *number;
    } else if (std::ranges::find(known, key.str()) != known.end()) {
      throw refusal(
          node,
          fmt::format("{}, as a domain's {} is",
                      key == "train" || key == "test" ? "a whole number, 0 or more" : "a text", key.str()));
    } else {
      throw Error(ErrorCode::invalid_argument, fmt::format("a domain has no key {}", quote_name(key.str())),
                  hint_among(key.str(), known));
    }
  }
  return domain;
}

std::vector<DomainSpec> read_domains(const toml::node& node, const fs::path& folder,
                                     const std::string& wanted) {
  if (const auto name = node.value_exact<std::string>()) {
    const auto preset = corpus_preset(*name);
    if (!preset) throw refusal(node, wanted, "for one data set write a list of one: [\"" + *name + "\"]");
    return preset->domains;
  }
  if (!node.is_array()) throw refusal(node, wanted);
  std::vector<DomainSpec> domains;
  for (const auto& entry : *node.as_array()) {
    if (const auto name = entry.value_exact<std::string>()) {
      domains.push_back({.name = *name});
    } else if (const auto* table = entry.as_table()) {
      domains.push_back(read_domain_table(*table, folder));
    } else {
      throw refusal(entry, "a domain: a name, or a table {name, path, format, train, test}");
    }
  }
  return domains;
}

// Reads a node into the place of each kind of field.
class Reader {
 public:
  Reader(const ConfigKey& key, const toml::node& node, const fs::path& folder, RunConfig& config)
      : node_(node), folder_(folder), config_(config), wanted_(describe_values(key.field)) {}

  void operator()(const FlagField& field) const { set(field.place, node_.value_exact<bool>()); }
  void operator()(const CountField& field) const { set(field.place, whole_number(node_)); }
  void operator()(const NumberField& field) const {
    set(field.place, node_.is_number() ? node_.value<double>() : std::nullopt);
  }
  void operator()(const TextField& field) const { set(field.place, node_.value_exact<std::string>()); }
  void operator()(const PathField& field) const {
    const auto text = node_.value_exact<std::string>();
    if (!text) throw refusal(node_, wanted_);
    field.place.in(config_) =
        field.may_be_name && is_backbone_name(*text) ? fs::path(*text) : resolve(folder_, *text);
  }
  void operator()(const WordField& field) const {
    const auto word = node_.value_exact<std::string>();
    if (!word) throw refusal(node_, wanted_);
    const auto found = std::ranges::find(field.words, *word);
    if (found == field.words.end()) throw refusal(node_, wanted_, did_you_mean(*word, field.words));
    field.set(config_, static_cast<std::size_t>(found - field.words.begin()));
  }
  void operator()(const CountsField& field) const {
    if (!node_.is_array()) throw refusal(node_, wanted_);
    std::vector<std::size_t> numbers;
    for (const auto& entry : *node_.as_array()) {
      const auto number = whole_number(entry);
      if (!number) throw refusal(entry, fmt::format("a whole number; here stands {}", wanted_));
      numbers.push_back(*number);
    }
    field.place.in(config_) = std::move(numbers);
  }
  void operator()(const DomainsField& field) const {
    field.place.in(config_) = read_domains(node_, folder_, wanted_);
  }

 private:
  template <typename T, typename Value>
  void set(const Place<T>& place, const std::optional<Value>& value) const {
    if (!value) throw refusal(node_, wanted_);
    place.in(config_) = *value;
  }

  const toml::node& node_;
  const fs::path& folder_;
  RunConfig& config_;
  std::string wanted_;
};

}  // namespace

void read_value(const ConfigKey& key, const toml::node& node, const fs::path& folder, RunConfig& config) {
  std::visit(Reader(key, node, folder, config), key.field);
  if (!is_allowed(key, config))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} is not {}", toml_value(key, config), describe_values(key.field)));
}

}  // namespace dfrost
