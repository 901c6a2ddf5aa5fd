#include "run/federation_parts.h"

namespace dfrost {
namespace {

std::size_t cache_bytes(const RunConfig& config, std::size_t fifths) {
  return (config.data.cache_mb << 20) / 5 * fifths;
}

}  // namespace

std::size_t train_cache_bytes(const RunConfig& config) { return cache_bytes(config, 4); }

std::size_t test_cache_bytes(const RunConfig& config) { return cache_bytes(config, 1); }

std::size_t feature_cache_bytes(const RunConfig& config) {
  const bool prompts_never_move = config.train.prompt_epochs == 0 || config.prompts.held() == 0;
  return prompts_never_move ? (config.data.cache_mb << 20) / 16 : 0;
}

Partition partition_for(const RunConfig& config, const Corpus& corpus) {
  if (config.method.cooperation != Cooperation::central) {
    return make_partition(corpus, config.partition, config.run.seed);
  }
  Partition all;
  all.clients.emplace_back(corpus.train.size());
  for (std::size_t i = 0; i < corpus.train.size(); ++i) all.clients.front()[i] = i;
  return all;
}

Node make_node(const RunConfig& config, const Geometry& geometry, std::size_t classes, ClientId id,
               const PromptOptions& prompts, std::optional<std::uint64_t> drawer) {
  Node node;
  node.id = id;
  node.adapter.prompts = prompts;
  node.adapter.head = config.head;
  node.adapter.head.classes = classes;
  node.adapter.validate(geometry);
  AdapterOptions first = node.adapter;
  if (drawer) first.prompts.init = PromptInit::independent;
  node.state = make_client_state(first, geometry, config.run.seed, drawer.value_or(id));
  node.most_prompts = config.most_prompts();
  return node;
}

std::vector<bool> viewed_clients(const Partition& partition, const Corpus& corpus, std::size_t per_domain) {
  std::vector<std::size_t> seen(corpus.domains.size(), 0);
  std::vector<bool> chosen;
  for (const auto& home : home_domains(partition, corpus)) {
    chosen.push_back(home && seen[*home]++ < per_domain);
  }
  return chosen;
}

bool is_evaluated(const RunConfig& config, std::size_t round) {
  return round >= config.run.rounds || (config.evaluate.every > 0 && round % config.evaluate.every == 0);
}

}  // namespace dfrost
