#include "config/key.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "config/fields.h"

namespace dfrost {
namespace {

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
// GCC deduces it without help; clang 14 does not.
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

std::string describe_count(std::size_t least, std::size_t most) {
  if (most >= fields::kMost) return fmt::format("{} or more", least);
  return fmt::format("from {} to {}", least, most);
}

std::string describe_number(const NumberField& field) {
  if (std::isinf(field.least)) return "a number";
  if (std::isinf(field.most))
    return field.above_least ? fmt::format("a number above {}", field.least)
                             : fmt::format("a number, {} or more", field.least);
  const std::string low =
      field.above_least ? fmt::format("above {}", field.least) : fmt::format("from {}", field.least);
  const std::string high =
      field.below_most ? fmt::format("below {}", field.most) : fmt::format("up to {}", field.most);
  return fmt::format("a number {}, {}", low, high);
}

bool is_allowed(double value, const NumberField& field) {
  const bool low = field.above_least ? value > field.least : value >= field.least;
  const bool high = field.below_most ? value < field.most : value <= field.most;
  return std::isfinite(value) && low && high;
}

// Always with a point or an exponent, so that it reads back as the number it is.
std::string toml_number(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string toml_domain(const DomainSpec& domain) {
  if (domain.path.empty() && domain.format.empty() && !domain.train && !domain.test)
    return toml_text(domain.name);
  std::string text = "{name = " + toml_text(domain.name);
  if (!domain.path.empty()) text += ", path = " + toml_text(domain.path.string());
  if (!domain.format.empty()) text += ", format = " + toml_text(domain.format);
  if (domain.train) text += fmt::format(", train = {}", *domain.train);
  if (domain.test) text += fmt::format(", test = {}", *domain.test);
  return text + "}";
}

std::string toml_domains(const std::vector<DomainSpec>& domains) {
  std::vector<std::string> texts;
  for (const auto& domain : domains) texts.push_back(toml_domain(domain));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

std::vector<ConfigKey> make_keys() {
  std::vector<ConfigKey> all;
  for (const auto& keys : {fields::federation_keys(), fields::learning_keys(), fields::merge_section_keys(),
                           fields::hostile_keys(), fields::privacy_keys(), fields::observer_keys()})
    all.insert(all.end(), keys.begin(), keys.end());
  return all;
}

}  // namespace

std::span<const ConfigSection> config_sections() {
  static const std::vector<ConfigSection> sections = {
      {"run", "The run as a whole."},
      {"backbone", "The frozen vision transformer that all clients share."},
      {"data",
       "Which pictures. Each data set is a domain; its classes follow those of the domains before it."},
      {"partition", "Who holds which training pictures."},
      {"network", "Who talks to whom, and what goes wrong."},
      {"method", "What a federation does, by name."},
      {"ntk", "Rounds of the kind 'ntk': how heads move along their tangent kernel."},
      {"train", "What a client does between two merges. Defaults follow from the method."},
      {"prompts", "What a client trains in front of the patches. Defaults follow from the method."},
      {"head", "What a client trains behind the backbone."},
      {"merge", "What a client does with what it received. Defaults follow from the method."},
      {"privacy", "What noise protects, from whoever sees what a client sends."},
      {"evaluate",
       "How clients are scored on the test pictures of all domains, with and without the class mask."},
      {"diagnostics", "Checks of the method itself while it runs."},
      {"attack", "Hostile clients, to see what they do and what helps."},
      {"defence", "What the merge does about senders that may be hostile. Parts combine."},
  };
  return sections;
}

std::span<const ConfigKey> config_keys() {
  static const std::vector<ConfigKey> keys = make_keys();
  return keys;
}

const ConfigKey* find_config_key(std::string_view full_name) {
  for (const auto& key : config_keys()) {
    if (key.full_name() == full_name) return &key;
  }
  return nullptr;
}

std::string describe_values(const Field& field) {
  return std::visit(Overloaded{
                        [](const FlagField&) -> std::string { return "true or false"; },
                        [](const CountField& f) {
                          return fmt::format("a whole number{} {}", f.most >= fields::kMost ? "," : "",
                                             describe_count(f.least, f.most));
                        },
                        [](const NumberField& f) { return describe_number(f); },
                        [](const TextField&) -> std::string { return "a text"; },
                        [](const PathField&) -> std::string { return "a path"; },
                        [](const WordField& f) { return fmt::format("one of {}", fmt::join(f.words, ", ")); },
                        [](const CountsField& f) {
                          return fmt::format("a list of whole numbers {}", describe_count(f.least, f.most));
                        },
                        [](const DomainsField&) -> std::string {
                          return "a list of names and tables, or \"five\", or \"four\"";
                        },
                    },
                    field);
}

bool is_allowed(const ConfigKey& key, const RunConfig& config) {
  return std::visit(Overloaded{
                        [](const auto&) { return true; },
                        [&](const CountField& f) {
                          const std::size_t value = f.place.of(config);
                          return value >= f.least && value <= f.most;
                        },
                        [&](const NumberField& f) { return is_allowed(f.place.of(config), f); },
                        [&](const WordField& f) { return f.get(config) < f.words.size(); },
                        [&](const CountsField& f) {
                          return std::ranges::all_of(f.place.of(config), [&](std::size_t value) {
                            return value >= f.least && value <= f.most;
                          });
                        },
                    },
                    key.field);
}

std::string toml_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') quoted += '\\';
    if (byte < 0x20 || byte == 0x7f) {
      quoted += fmt::format("\\u{:04x}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string toml_value(const ConfigKey& key, const RunConfig& config) {
  return std::visit(
      Overloaded{
          [&](const FlagField& f) -> std::string { return f.place.of(config) ? "true" : "false"; },
          [&](const CountField& f) { return fmt::format("{}", f.place.of(config)); },
          [&](const NumberField& f) { return toml_number(f.place.of(config)); },
          [&](const TextField& f) { return toml_text(f.place.of(config)); },
          [&](const PathField& f) { return toml_text(f.place.of(config).string()); },
          [&](const WordField& f) {
            const std::size_t word = f.get(config);
            return word < f.words.size() ? toml_text(f.words[word]) : "an unknown word";
          },
          [&](const CountsField& f) { return fmt::format("[{}]", fmt::join(f.place.of(config), ", ")); },
          [&](const DomainsField& f) { return toml_domains(f.place.of(config)); },
      },
      key.field);
}

bool same_value(const ConfigKey& key, const RunConfig& a, const RunConfig& b) {
  return toml_value(key, a) == toml_value(key, b);
}

void copy_value(const ConfigKey& key, const RunConfig& from, RunConfig& to) {
  std::visit(Overloaded{
                 [&](const WordField& f) { f.set(to, f.get(from)); },
                 [&](const auto& f) { f.place.in(to) = f.place.of(from); },
             },
             key.field);
}

}  // namespace dfrost
