#include "federation/site_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "backbone/backbone_names.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "config/key.h"
#include "dfrost/error.h"
#include "federation/names.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

Error settings_error(const std::string& message, std::string hint = {}) {
  return {ErrorCode::invalid_argument, message, std::move(hint)};
}

// One value of a file into its place; nothing is said of where.
class SiteReader {
 public:
  SiteReader(const SiteKey& key, const toml::node& node, const fs::path& folder, SiteSettings& settings)
      : key_(key), node_(node), folder_(folder), settings_(settings) {}

  void operator()(SitePlace<bool> place) const { settings_.*place = wanted(node_.value_exact<bool>()); }
  void operator()(SitePlace<std::string> place) const {
    settings_.*place = wanted(node_.value_exact<std::string>());
  }
  void operator()(const SiteCount& field) const {
    const auto number = node_.value_exact<std::int64_t>();
    const bool fits = number && *number >= 0 && static_cast<std::size_t>(*number) <= field.most;
    settings_.*field.place = static_cast<std::size_t>(wanted(fits ? number : std::nullopt));
  }
  void operator()(const SiteSeconds& field) const {
    const auto number = node_.is_number() ? node_.value<double>() : std::nullopt;
    const bool fits = number && *number >= field.least && *number <= field.most;
    settings_.*field.place = wanted(fits ? number : std::nullopt);
  }
  void operator()(const SiteAddress& field) const {
    const auto text = wanted(node_.value_exact<std::string>());
    if (!text.empty()) field.listens ? parse_listen_address(text) : parse_address(text);
    settings_.*field.place = text;
  }
  void operator()(const SitePath& field) const {
    const auto text = wanted(node_.value_exact<std::string>());
    const bool as_it_is = text.empty() || (field.may_be_name && is_backbone_name(text));
    settings_.*field.place = as_it_is ? fs::path(text) : (folder_ / text).lexically_normal();
  }

 private:
  template <typename Value>
  Value wanted(const std::optional<Value>& value) const {
    if (!value) throw settings_error(fmt::format("this is not {}", describe_values(key_.field)));
    return *value;
  }

  const SiteKey& key_;
  const toml::node& node_;
  const fs::path& folder_;
  SiteSettings& settings_;
};

std::string place_of(const std::string& file, const toml::source_region& source, std::string_view key) {
  return fmt::format("{}, line {}{}", file, source.begin.line,
                     key.empty() ? std::string() : fmt::format(" ({})", key));
}

const SiteKey& find_key(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& key : site_keys()) {
    if (key.name == name) return key;
    names.push_back(key.name);
  }
  throw settings_error(fmt::format("there is no key {} in a site's peer.toml", quote_name(name)),
                       did_you_mean(name, names, fmt::format("the keys are {}", fmt::join(names, ", "))));
}

void check_together(const SiteSettings& settings) {
  check_member_name(settings.name);
  if (settings.partition && !settings.data.empty()) {
    throw settings_error("both 'data' and 'partition' say where the pictures are",
                         "keep 'data' for pictures of your own, or 'partition = true' for a share of the "
                         "experiment's data sets");
  }
  if (!settings.address.empty() && settings.listen.empty())
    throw settings_error("it has an address, and does not listen",
                         "say where, by 'listen', such as 0.0.0.0:7443");
}

}  // namespace

std::string describe_values(const SiteField& field) {
  struct Describe {
    std::string operator()(SitePlace<bool>) const { return "true or false"; }
    std::string operator()(SitePlace<std::string>) const { return "a text"; }
    std::string operator()(const SiteCount& f) const {
      return fmt::format("a whole number from 0 to {}", f.most);
    }
    std::string operator()(const SiteSeconds& f) const {
      return fmt::format("a number of seconds from {} to {}", f.least, f.most);
    }
    std::string operator()(const SiteAddress& f) const {
      return f.listens ? "host:port or :port" : "host:port";
    }
    std::string operator()(const SitePath& f) const { return f.may_be_name ? "a path or a name" : "a path"; }
  };
  return std::visit(Describe{}, field);
}

std::string toml_value(const SiteKey& key, const SiteSettings& settings) {
  struct Write {
    const SiteSettings& s;
    std::string operator()(SitePlace<bool> place) const { return s.*place ? "true" : "false"; }
    std::string operator()(SitePlace<std::string> place) const { return toml_text(s.*place); }
    std::string operator()(const SiteCount& f) const { return fmt::format("{}", s.*f.place); }
    std::string operator()(const SiteSeconds& f) const { return fmt::format("{}", s.*f.place); }
    std::string operator()(const SiteAddress& f) const { return toml_text(s.*f.place); }
    std::string operator()(const SitePath& f) const { return toml_text((s.*f.place).string()); }
  };
  return std::visit(Write{settings}, key.field);
}

SiteSettings parse_site_settings(std::string_view text, const std::string& place, const fs::path& folder) {
  toml::table table;
  try {
    table = toml::parse(text, std::string_view(place));
  } catch (const toml::parse_error& error) {
    throw settings_error(fmt::format("not valid TOML: {}", error.description()))
        .at(place_of(place, error.source(), {}));
  }
  SiteSettings settings;
  const fs::path absolute = fs::absolute(folder);
  for (const auto& [name, node] : table) {
    try {
      const SiteKey& key = find_key(name.str());
      std::visit(SiteReader(key, node, absolute, settings), key.field);
    } catch (Error& error) {
      throw error.at(place_of(place, name.source(), quote_name(name.str())));
    }
  }
  try {
    check_together(settings);
  } catch (Error& error) {
    throw error.at(place);
  }
  return settings;
}

std::string to_toml(const SiteSettings& settings) {
  const SiteSettings usual;
  std::string text =
      "# What is this site's own; what it learns with the others stands in the federation file.\n";
  for (const auto& key : site_keys()) {
    const bool changed = toml_value(key, settings) != toml_value(key, usual);
    text += fmt::format("\n# {}\n{}{} = {}\n", key.comment, changed ? "" : "#", key.name,
                        toml_value(key, settings));
  }
  return text;
}

std::string site_reference_page() {
  std::string text =
      "# A site's file: peer.toml\n\n"
      "Written by `dfrost peer explain --markdown`; a test compares the two.\n\n"
      "`dfrost peer init` makes the folder of a site with this file in it. It holds what is the site's own; "
      "what all members share stands in the federation file.\nEvery key but `name` has a default. Relative "
      "paths count from the site's folder. A misspelt key is refused with the line it stands in.\n\n"
      "| key | takes | default | |\n|---|---|---|---|\n";
  const SiteSettings usual;
  for (const auto& key : site_keys()) {
    text +=
        fmt::format("| `{}` | {} | `{}` | {}.{}{} |\n", key.name, describe_values(key.field),
                    toml_value(key, usual), key.comment, key.explanation.empty() ? "" : " ", key.explanation);
  }
  return text +
         "\n## What else is in a site's folder\n\n| file | what it is |\n|---|---|\n"
         "| `key.pem` | the private key: who the site is. Mode 0600; never leaves the machine. Keep a backup "
         "|\n"
         "| `NAME.member` | name, address and public key, signed by that key: what the founder needs |\n"
         "| `federation` | the federation file as it was joined |\n"
         "| `left` | there after `dfrost peer leave`, until it joins again |\n"
         "| `run/` | the run, as any other: records, checkpoints, adapter |\n";
}

}  // namespace dfrost
