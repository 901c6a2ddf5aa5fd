#include "cli/data_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <toml++/toml.h>
#include <map>

#include "base/file.h"
#include "base/suggest.h"
#include "dfrost/error.h"

namespace dfrost::cli {
namespace {

namespace fs = std::filesystem;

// One table of the file, each of whose keys is read by name and those left over are refused.
class Section {
 public:
  Section(const toml::table* table, std::string name, const std::string& place)
      : table_(table), name_(std::move(name)), place_(place) {}

  const toml::node* find(const std::string& key) {
    known_.push_back(key);
    return table_ == nullptr ? nullptr : table_->get(key);
  }

  template <typename T>
  void read(const std::string& key, T& value) {
    const toml::node* node = find(key);
    if (node != nullptr) value = convert<T>(*node, key);
  }

  void read_path(const std::string& key, fs::path& value, const fs::path& folder) {
    std::string text;
    read(key, text);
    if (!text.empty()) value = folder / text;
  }

  // After every key was asked for.
  void refuse_unknown_keys() const {
    if (table_ == nullptr) return;
    for (const auto& [key, node] : *table_) {
      const std::string word(key.str());
      if (std::find(known_.begin(), known_.end(), word) != known_.end()) continue;
      const auto near = nearest(word, known_);
      throw error(node, fmt::format("there is no key '{}' in [{}]", word, name_),
                  near ? fmt::format("did you mean '{}'?", *near)
                       : fmt::format("known are {}", fmt::join(known_, ", ")));
    }
  }

  Error error(const toml::node& node, const std::string& what, const std::string& hint = {}) const {
    return Error(ErrorCode::invalid_argument, what, hint)
        .at(fmt::format("{}, line {}", place_, node.source().begin.line));
  }

 private:
  template <typename T>
  T convert(const toml::node& node, const std::string& key) const {
    if constexpr (std::is_same_v<T, std::string>) {
      if (const auto text = node.value_exact<std::string>()) return *text;
      throw error(node, fmt::format("{}.{} is not text", name_, key));
    } else if constexpr (std::is_same_v<T, bool>) {
      if (const auto flag = node.value_exact<bool>()) return *flag;
      throw error(node, fmt::format("{}.{} is not true or false", name_, key));
    } else if constexpr (std::is_floating_point_v<T>) {
      if (const auto number = node.value<double>()) return *number;
      throw error(node, fmt::format("{}.{} is not a number", name_, key));
    } else {
      const auto number = node.value_exact<std::int64_t>();
      if (number && *number >= 0) return static_cast<T>(*number);
      throw error(node, fmt::format("{}.{} is not a whole number from 0 up", name_, key));
    }
  }

  const toml::table* table_;
  std::string name_;
  const std::string& place_;
  std::vector<std::string> known_;
};

template <typename Kind>
Kind choose(Section& section, const std::string& key, const std::map<std::string, Kind>& choices,
            Kind otherwise) {
  const toml::node* node = section.find(key);
  if (node == nullptr) return otherwise;
  const auto word = node->value<std::string>();
  std::vector<std::string> words;
  for (const auto& [name, kind] : choices) words.push_back(name);
  if (word && choices.contains(*word)) return choices.at(*word);
  const auto near = nearest(word.value_or(""), words);
  throw section.error(*node, fmt::format("{} cannot be '{}'", key, word.value_or("that")),
                      near ? fmt::format("did you mean '{}'?", *near)
                           : fmt::format("it is one of {}", fmt::join(words, ", ")));
}

DomainSpec read_domain(const toml::node& node, Section& data, const std::string& place,
                       const fs::path& folder) {
  DomainSpec domain;
  if (const auto name = node.value<std::string>()) {
    domain.name = *name;
    return domain;
  }
  if (!node.is_table()) throw data.error(node, "a domain is a name or a table {name, path, format}");
  Section table(node.as_table(), "data.domains", place);
  table.read("name", domain.name);
  table.read_path("path", domain.path, folder);
  table.read("format", domain.format);
  const auto read_size = [&](const std::string& key, std::optional<std::size_t>& size) {
    std::size_t value = 0;
    const bool there = node.as_table()->contains(key);
    table.read(key, value);
    if (there) size = value;
  };
  read_size("train", domain.train);
  read_size("test", domain.test);
  table.refuse_unknown_keys();
  return domain;
}

void read_domains(Section& data, PoolOptions& pool, const std::string& place, const fs::path& folder) {
  const toml::node* node = data.find("domains");
  if (node == nullptr) return;
  if (const auto name = node->value<std::string>()) {
    const auto preset = pool_preset(*name);
    if (!preset)
      throw data.error(*node, fmt::format("'{}' is no list of domains", *name), "known are five and four");
    pool = *preset;
    return;
  }
  if (!node->is_array())
    throw data.error(*node, "domains is a list of names or tables, or \"five\" or \"four\"");
  pool.domains.clear();
  for (const toml::node& entry : *node->as_array())
    pool.domains.push_back(read_domain(entry, data, place, folder));
}

void read_data(Section& data, PoolOptions& pool, const std::string& place, const fs::path& folder) {
  read_domains(data, pool, place, folder);
  pool.root = default_data_root();
  data.read_path("root", pool.root, folder);
  data.read("train_per_domain", pool.train_per_domain);
  data.read("test_per_domain", pool.test_per_domain);
  data.read("allow_fewer", pool.allow_fewer);
}

void read_partition_section(Section& section, PartitionOptions& options, const fs::path& folder) {
  options.kind = choose<PartitionKind>(section, "kind",
                                       {{"dirichlet", PartitionKind::dirichlet},
                                        {"extreme", PartitionKind::extreme},
                                        {"iid", PartitionKind::iid},
                                        {"file", PartitionKind::file}},
                                       options.kind);
  options.per = choose<DirichletForm>(
      section, "per", {{"class", DirichletForm::per_class}, {"client", DirichletForm::per_client}},
      options.per);
  section.read("alpha", options.alpha);
  section.read("clients_per_domain", options.clients_per_domain);
  section.read("min_per_client", options.min_per_client);
  section.read("max_draws", options.max_draws);
  section.read("designated_share", options.designated_share);
  section.read_path("file", options.file, folder);
}

}  // namespace

DataConfig parse_data_config(std::string_view text, const std::string& place, const fs::path& folder) {
  toml::table file;
  try {
    file = toml::parse(text, place);
  } catch (const toml::parse_error& error) {
    throw Error(ErrorCode::invalid_argument, std::string(error.description()))
        .at(fmt::format("{}, line {}", place, error.source().begin.line));
  }
  DataConfig config;
  config.pool = *pool_preset("five");
  Section run(file["run"].as_table(), "run", place);
  run.read("seed", config.pool.seed);
  const Seed seed = config.pool.seed;
  for (const char* key : {"name", "rounds", "threads", "checkpoint_every"}) run.find(key);
  run.refuse_unknown_keys();
  Section data(file["data"].as_table(), "data", place);
  read_data(data, config.pool, place, folder);
  config.pool.seed = seed;
  data.refuse_unknown_keys();
  Section partition(file["partition"].as_table(), "partition", place);
  read_partition_section(partition, config.partition, folder);
  partition.refuse_unknown_keys();
  return config;
}

DataConfig read_data_config(const fs::path& path) {
  return parse_data_config(read_text_file(path, 1u << 20), path.string(), fs::absolute(path).parent_path());
}

}  // namespace dfrost::cli
