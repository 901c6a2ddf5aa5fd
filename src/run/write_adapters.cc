#include "run/write_adapters.h"

#include <fmt/format.h>

#include "adapter/adapter_file.h"
#include "base/file.h"
#include "base/json.h"

namespace dfrost {

AdapterCard adapter_card(const RunConfig& config, const Corpus& corpus, const Backbone& backbone,
                         const Preprocessing& preprocessing, const std::string& weights) {
  AdapterCard card;
  card.method = config.method.name;
  card.seed = config.run.seed;
  card.backbone = config.backbone.path.filename().string();
  card.fingerprint = weights;
  card.precision = backbone.precision();
  card.geometry = backbone.geometry();
  card.preprocessing = preprocessing;
  card.mask = config.train.mask;
  for (const auto& domain : corpus.domains) {
    card.domains.push_back({domain.name, static_cast<std::size_t>(domain.first_class), domain.class_names});
  }
  return card;
}

std::string adapter_name(ClientId client) { return fmt::format("client-{:03}", client); }

void write_node_adapter(const std::filesystem::path& folder, AdapterCard card, const std::string& name,
                        std::size_t round, const Node& node) {
  card.model = name;
  card.round = round;
  card.adapter = node.adapter;
  write_adapter(folder / (name + ".safetensors"), card, node.state);
}

void write_adapters(const std::filesystem::path& folder, const AdapterCard& card,
                    const Simulation& federation) {
  std::filesystem::create_directories(folder);
  const std::size_t round = federation.rounds_done();
  for (const auto& client : federation.clients())
    write_node_adapter(folder, card, adapter_name(client.id), round, client);
  AdapterCard network = card;
  network.model = "network";
  network.round = round;
  network.adapter = federation.network_model().adapter;
  write_node_adapter(folder, network, network.model, round, federation.network_model());
  write_file_atomically(folder / "card.json", dump_json(to_json(network), 2) + "\n");
}

}  // namespace dfrost
