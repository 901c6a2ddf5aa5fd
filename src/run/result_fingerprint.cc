#include "run/result_fingerprint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/content_hash.h"
#include "run/config_key.h"

namespace dfrost {
namespace {

// Without what changes no result, and without where things lie.
RunConfig deciding_settings(RunConfig config, Precision precision) {
  config.run = {.name = "", .seed = config.run.seed, .rounds = 0, .threads = 0, .checkpoint_every = 0};
  config.backbone.path.clear();
  config.backbone.precision = precision;
  config.data.root.clear();
  config.data.cache_mb = 0;
  for (auto& domain : config.data.domains) domain.path.clear();
  config.partition.file.clear();
  config.network.topology.file.clear();
  config.evaluate = {};
  config.diagnostics = {};
  return config;
}

// Values alone: to explain a key in other words changes no result.
std::string settings_text(const RunConfig& config) {
  std::string text;
  for (const auto& key : config_keys()) text += key.full_name() + "=" + toml_value(key, config) + "\n";
  return text;
}

// A file beside the checkpoint may say it, and be another one tomorrow.
std::string picture_text(const Preprocessing& how) {
  return fmt::format("{} {} {} {} {} {}", how.resize, how.stretch, static_cast<int>(how.filter), how.crop,
                     fmt::join(how.mean, " "), fmt::join(how.std, " "));
}

}  // namespace

std::string result_fingerprint(const RunConfig& config, const std::string& weights, Precision precision,
                               const Preprocessing& preprocessing, const Federation& federation) {
  const PooledSet& pool = federation.pool();
  ContentHash hash;
  const std::string settings = settings_text(deciding_settings(config, precision));
  hash.add(std::span(settings));
  hash.add(std::span(weights));
  const std::string pictures = picture_text(preprocessing);
  hash.add(std::span(pictures));
  hash.add(std::span(pool.train.bytes));
  hash.add(std::span(pool.train.labels));
  for (const auto& client : federation.partition().clients) hash.add(std::span(client));
  // What a file lists; every other graph follows from the settings.
  if (federation.topology().options().kind == TopologyKind::file) {
    const Graph graph = federation.topology().draw(0);
    hash.add(std::span(graph.edges()));
  }
  return hash.hex();
}

std::optional<SettingChange> first_change(const RunConfig& before, const RunConfig& now,
                                          Precision precision) {
  const Precision used = before.backbone.precision;
  const auto old = deciding_settings(before, used == Precision::automatic ? precision : used);
  const auto current = deciding_settings(now, precision);
  for (const auto& key : config_keys()) {
    if (!same_value(key, old, current)) {
      return SettingChange{key.full_name(), toml_value(key, old), toml_value(key, current)};
    }
  }
  return std::nullopt;
}

std::string test_fingerprint(const PooledSet& pool, const Domain& domain) {
  ContentHash hash;
  for (std::size_t i = domain.first_test; i < domain.first_test + domain.test_count; ++i) {
    const PictureRecord& record = pool.test.records[i];
    const int label = pool.test.labels[i] - domain.first_class;
    hash.add(std::span(pool.test.bytes).subspan(record.offset, record.size));
    hash.add(std::span(&label, 1));
  }
  return hash.hex();
}

}  // namespace dfrost
