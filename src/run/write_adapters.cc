#include "run/write_adapters.h"

#include <fmt/format.h>

#include "adapter/adapter_file.h"
#include "base/file.h"
#include "base/json.h"

namespace dfrost {

void write_adapters(const std::filesystem::path& folder, const Simulation& federation,
                    const RunConfig& config, const Backbone& backbone, const Preprocessing& preprocessing,
                    const std::string& weights) {
  std::filesystem::create_directories(folder);
  AdapterCard card;
  card.method = config.method.name;
  card.round = federation.rounds_done();
  card.seed = config.run.seed;
  card.backbone = config.backbone.path.filename().string();
  card.fingerprint = weights;
  card.precision = backbone.precision();
  card.geometry = backbone.geometry();
  card.preprocessing = preprocessing;
  card.mask = config.train.mask;
  for (const auto& domain : federation.corpus().domains) {
    card.domains.push_back({domain.name, static_cast<std::size_t>(domain.first_class), domain.class_names});
  }
  const auto write = [&](const std::string& name, const Node& node) {
    card.model = name;
    card.adapter = node.adapter;
    write_adapter(folder / (name + ".safetensors"), card, node.state);
  };
  for (const auto& client : federation.clients())
    write(fmt::format("client-{:03}", client.id), federation.model_of(client));
  write("network", federation.network_model());
  write_file_atomically(folder / "card.json", dump_json(to_json(card), 2) + "\n");
}

}  // namespace dfrost
