// No key is only for show: each one changes what a small federation computes, records or refuses.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "base/content_hash.h"
#include "dfrost/error.h"
#include "run/config_key.h"
#include "run/configs.h"
#include "run/record_json.h"
#include "run/small_federation.h"

namespace dfrost {
namespace {

struct Effect {
  std::string key;
  std::string value;               // that makes a difference
  std::vector<std::string> where;  // what must be set for it to matter
};

const std::vector<Effect> kEffects = {
    {"run.seed", "4", {}},
    {"partition.kind", "extreme", {}},
    {"partition.alpha", "0.2", {"partition.kind=dirichlet"}},
    {"partition.clients_per_domain", "2", {}},
    {"partition.per", "client", {"partition.kind=dirichlet"}},
    {"partition.min_per_client", "7", {"partition.kind=dirichlet", "partition.alpha=0.2"}},
    {"partition.max_draws", "1", {"partition.kind=dirichlet", "partition.min_per_client=7"}},
    {"partition.designated_share", "0.5", {"partition.kind=extreme"}},
    {"network.topology", "full", {}},
    {"network.degree", "3", {"network.topology=regular", "network.degree=2"}},
    {"network.static", "true", {}},
    {"network.link_failure", "0.5", {}},
    {"network.active_clients", "3", {}},
    {"network.active_graph", "all", {"network.active_clients=4"}},
    {"method.name", "d-psgd", {}},
    {"method.cooperation", "none", {}},
    {"train.optimizer", "sgd", {}},
    {"train.learning_rate", "0.02", {}},
    {"train.momentum", "0.5", {"train.optimizer=sgd"}},
    {"train.beta1", "0.5", {}},
    {"train.beta2", "0.9", {}},
    {"train.epsilon", "0.01", {}},
    {"train.sam_radius", "0.1", {}},
    {"train.batch", "3", {}},
    {"train.epochs", "2", {}},
    {"train.mask", "none", {}},
    {"prompts.count", "3", {}},
    {"prompts.counts", "[4, 2]", {}},
    {"prompts.pool", "6", {}},
    {"prompts.init", "shared", {}},
    {"prompts.keys", "separate", {"prompts.pool=6"}},
    {"prompts.choice", "per-batch", {"prompts.pool=6"}},
    {"prompts.similarity_weight", "0.1", {"prompts.pool=6"}},
    {"head.kind", "mlp", {}},
    {"head.hidden", "[5]", {"head.kind=mlp"}},
    {"head.dropout", "0.1", {"head.kind=pfpt"}},
    {"merge.kind", "average", {}},
    {"merge.epsilon", "1.0", {}},
    {"merge.lambda", "0.1", {}},
    {"merge.sigma2", "0.001", {}},
    {"merge.steps", "1", {}},
    {"merge.epsilon_init", "10.0", {"merge.steps=2"}},
    {"merge.tolerance", "10.0", {"merge.early_stop=true"}},
    {"merge.early_stop", "true", {"merge.tolerance=10.0"}},
    {"merge.init", "kmeans++", {}},
    {"merge.dead", "keep", {"merge.init=previous", "train.learning_rate=0.5", "merge.steps=1"}},
    {"merge.shrink", "off", {}},
    {"merge.weights", "mixing", {"network.topology=grid"}},
    {"merge.head", "own", {}},
    {"evaluate.every", "0", {}},
    {"evaluate.clients", "2", {}},
    {"evaluate.samples", "3", {}},
    {"evaluate.batch", "2", {"prompts.pool=6", "prompts.choice=per-batch"}},
    {"diagnostics.theory", "true", {}},
    {"diagnostics.merge_views", "2", {}},
};

// What a federation over pictures in memory cannot show.
const std::set<std::string> kShownElsewhere = {
    // experiment_test.cc and real_run.py: files, folders, threads and stops.
    "run.name",
    "run.rounds",
    "run.threads",
    "run.checkpoint_every",
    "backbone.path",
    "backbone.precision",
    "backbone.image_size",
    "backbone.heads",
    "backbone.preprocessing",
    "data.domains",
    "data.root",
    "data.train_per_domain",
    "data.test_per_domain",
    "data.allow_fewer",
    "partition.file",
    "network.file",
    "merge.form",  // by its own words, it changes nothing but the time
};

const std::vector<std::string> kBase = {"run.seed=3",
                                        "run.rounds=3",
                                        "run.threads=1",
                                        "partition.kind=iid",
                                        "partition.clients_per_domain=3",
                                        "partition.min_per_client=1",
                                        "network.topology=ring",
                                        "train.batch=4",
                                        "train.epochs=1",
                                        "train.learning_rate=0.01",
                                        "prompts.count=4",
                                        "prompts.init=independent",
                                        "evaluate.clients=0",
                                        "evaluate.samples=0",
                                        "diagnostics.merge_views=0"};

// Two rounds: the values that they end with and all that they record but time; or why not.
std::string outcome_of(std::vector<std::string> overrides) {
  overrides.insert(overrides.begin(), kBase.begin(), kBase.end());
  try {
    Preprocessing how;
    how.resize = how.crop = test::tiny_backbone().geometry().image_size;
    Federation federation(test::parse("", overrides), test::tiny_backbone(), how,
                          test::coloured_squares(8, 2));
    std::string outcome;
    for (int round = 0; round < 2; ++round) {
      const auto record = federation.run_round();
      auto json = to_json(record);
      json.erase("seconds");
      outcome += json.dump() + fmt::format(" {}\n", record.merge_views.size());
    }
    ContentHash hash;
    const auto values = federation.values();
    hash.add(std::span(values));
    return outcome + hash.hex();
  } catch (const Error& error) {
    return std::string("refused: ") + error.what();
  }
}

TEST(ConfigKeys, EachChangesWhatARunDoes) {
  std::set<std::string> shown = kShownElsewhere;
  for (const auto& effect : kEffects) {
    SCOPED_TRACE(effect.key);
    const auto before = outcome_of(effect.where);
    EXPECT_FALSE(before.starts_with("refused")) << before;
    auto with = effect.where;
    with.push_back(effect.key + "=" + effect.value);
    EXPECT_NE(outcome_of(with), before);
    EXPECT_TRUE(shown.insert(effect.key).second) << "listed twice";
  }
  for (const auto& key : config_keys())
    EXPECT_TRUE(shown.erase(key.full_name())) << key.full_name() << " is not shown";
  EXPECT_TRUE(shown.empty()) << *shown.begin() << " is no key";
}

}  // namespace
}  // namespace dfrost
