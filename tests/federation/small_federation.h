// Sites and federations for the tests, without data and without a model.
#pragma once

#include <string>
#include <vector>

#include "base/version.h"
#include "config/toml_file.h"
#include "federation/federation_file.h"
#include "federation/portable_config.h"

namespace dfrost::test {

// Two domains of pictures, `members` clients, on a full graph.
inline RunConfig small_experiment_of(std::size_t members) {
  RunConfig config;
  config.run.name = "small";
  config.run.rounds = 20;
  config.backbone.path = "frost-mini";
  config.backbone.precision = Precision::fp32;
  config.data.domains = {{.name = "mnist"}};
  config.partition.clients_per_domain = members;
  config.network.topology.kind = TopologyKind::full;
  config.validate();
  return config;
}

struct SmallFederation {
  PrivateKey founder = PrivateKey::generate();
  std::vector<PrivateKey> keys;
  Federation federation;

  explicit SmallFederation(std::size_t members) {
    federation.name = "small";
    federation.software = std::string(version());
    federation.experiment = to_toml(portable_config(small_experiment_of(members)));
    federation.backbone_fingerprint = "0123456789abcdef";
    federation.classes = {"mnist/0", "mnist/1", "mnist/2"};
    federation.founder_key = founder.public_key();
    for (std::size_t i = 0; i < members; ++i) {
      keys.push_back(PrivateKey::generate());
      federation.members.push_back({.number = static_cast<ClientId>(i),
                                    .name = "site-" + std::to_string(i),
                                    .address = "127.0.0.1:" + std::to_string(7000 + i),
                                    .public_key = keys.back().public_key()});
    }
  }

  // As every reader has it.
  Federation read_back() const { return parse_federation(federation_text(federation, founder)); }
};

inline MemberFile member_of(const PrivateKey& key, const std::string& name, const std::string& address = {}) {
  return {.name = name, .address = address, .public_key = key.public_key()};
}

}  // namespace dfrost::test
