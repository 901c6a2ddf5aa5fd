#include "cluster/hello.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "backbone/preparation_text.h"
#include "base/content_hash.h"
#include "base/file.h"
#include "base/version.h"
#include "config/key.h"

namespace dfrost {
namespace {

// May be another one on every host: where things lie, and how much of the machine is taken.
constexpr std::array<std::string_view, 8> kOwnToAHost = {
    "run.threads",  "backbone.path", "backbone.precision", "data.root",
    "data.domains", "data.cache_mb", "partition.file",     "network.file"};

std::string hash_of_pictures(const PictureSet& pictures) {
  ContentHash hash;
  hash.add(std::span(pictures.bytes));
  hash.add(std::span(pictures.labels));
  return fmt::format("{} of them, {}", pictures.labels.size(), hash.hex());
}

std::string hash_of(const Partition& partition) {
  ContentHash hash;
  for (const auto& client : partition.clients) hash.add(std::span(client));
  return fmt::format("{} clients, {}", partition.clients.size(), hash.hex());
}

std::string hash_of(const FrameParts& frame) {
  ContentHash hash;
  hash.add(std::span(frame.mean));
  hash.add(std::span(frame.factor));
  return hash.hex();
}

// A file may list it; every other graph follows from the settings.
std::string hash_of_graph(const RoundPlanner& planner) {
  ContentHash hash;
  const auto network = planner.network(1);
  hash.add(std::span(network.graph.edges()));
  return hash.hex();
}

// Two builds of one version need not compute the same.
std::string executable() {
  try {
    ContentHash hash;
    const std::string bytes = read_text_file("/proc/self/exe");
    hash.add(std::span(bytes));
    return hash.hex();
  } catch (const Error&) {
    return "unknown";
  }
}

}  // namespace

Hello hello_of(const Groundwork& ground, const std::string& weights) {
  Hello hello;
  auto& traits = hello.traits;
  traits.push_back({"the version of dfrost", std::string(version())});
  traits.push_back({"the executable", executable()});
  for (const auto& key : config_keys())
    if (std::ranges::count(kOwnToAHost, key.full_name()) == 0)
      traits.push_back({key.full_name(), toml_value(key, ground.config)});
  traits.push_back({"the precision", std::string(to_string(ground.backbone.precision()))});
  traits.push_back({"the backbone's weights", weights});
  traits.push_back({"how pictures are prepared", preparation_text(ground.preprocessing)});
  if (ground.method.frame) traits.push_back({"the backbone's moments", hash_of(*ground.method.frame)});
  for (const auto& domain : ground.corpus.domains)
    traits.push_back({fmt::format("the classes of {}", domain.name),
                      fmt::format("{}", fmt::join(domain.class_names, ", "))});
  traits.push_back({"the training pictures", hash_of_pictures(ground.corpus.train)});
  traits.push_back({"the test pictures", hash_of_pictures(ground.corpus.test)});
  traits.push_back({"who holds which pictures", hash_of(ground.partition)});
  traits.push_back({"the network of the first round", hash_of_graph(ground.planner)});
  return hello;
}

std::optional<std::string> first_difference(const Hello& own, const Hello& other) {
  const std::size_t both = std::min(own.traits.size(), other.traits.size());
  for (std::size_t i = 0; i < both; ++i) {
    const auto& [name, value] = own.traits[i];
    if (other.traits[i].name != name)
      return fmt::format("it has {} where the first has {}", other.traits[i].name, name);
    if (other.traits[i].value != value)
      return fmt::format("{}: {} there, {} at rank 0", name, other.traits[i].value, value);
  }
  if (own.traits.size() != other.traits.size()) return "it knows of more or fewer settings";
  return std::nullopt;
}

}  // namespace dfrost
