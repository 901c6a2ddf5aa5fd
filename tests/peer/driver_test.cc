// The driver over threads: without faults a peer's bytes are those of the simulator, whatever the method.
#include <gtest/gtest.h>

#include "base/file.h"
#include "config/methods.h"
#include "peer/thread_federation.h"
#include "run/write_adapters.h"

namespace dfrost {
namespace {

using test::SmallExperiment;
using test::ThreadFederation;

// Eight clients, some pictures each.
RunConfig eight(const SmallExperiment& experiment, const std::string& method) {
  RunConfig config = experiment.config;
  config.partition.clients_per_domain = 4;
  config.diagnostics.theory = false;
  config.evaluate = {.every = 2, .clients = 1, .samples = 4};
  apply_method(config, method);
  config.train.optimizer.learning_rate = 1e-2;
  return config;
}

void expect_the_simulators_bytes(const SmallExperiment& experiment, const RunConfig& config) {
  test::StoppingObserver nobody;
  const auto simulated = experiment.folder / "simulated";
  std::filesystem::remove_all(simulated);
  run_experiment(config, {simulated, false}, nobody);
  const auto sites = experiment.folder / "sites";
  std::filesystem::remove_all(sites);
  ThreadFederation federation(config, test::federation_of(8), sites);
  federation.run();
  for (ClientId u = 0; u < 8; ++u) {
    const auto name = "adapter/" + adapter_name(u) + ".safetensors";
    EXPECT_EQ(read_text_file(federation.run_folder(u) / name), read_text_file(simulated / name))
        << config.method.name << ", member " << u;
  }
}

TEST(Peer, HasTheSimulatorsBytesWithOptimalTransport) {
  const SmallExperiment experiment;
  expect_the_simulators_bytes(experiment, eight(experiment, "dfrost"));
}

TEST(Peer, HasTheSimulatorsBytesWithTheMetricOfTheBackbone) {
  const SmallExperiment experiment;
  auto config = eight(experiment, "dfrost");
  config.merge.metric = MergeMetric::first_block;
  config.prompts.init = PromptInit::independent;
  expect_the_simulators_bytes(experiment, config);
}

TEST(Peer, HasTheSimulatorsBytesWhereSomeSitOutAndLinksFail) {
  const SmallExperiment experiment;
  auto config = eight(experiment, "dfedavgm");
  config.run.rounds = 4;
  config.network.faults = {.link_failure = 0.3, .active_clients = 5};
  expect_the_simulators_bytes(experiment, config);
}

TEST(Peer, HasTheSimulatorsBytesWhereSomeAreHostileAndAllDefend) {
  const SmallExperiment experiment;
  auto config = eight(experiment, "dfrost");
  config.attack = {.kind = AttackKind::dissensus, .clients = {1, 6}};
  config.merge.trim = 0.2;
  config.merge.defence = {.reject = 2, .clip = {.share = 0.5}, .head_median = 1};
  expect_the_simulators_bytes(experiment, config);
}

TEST(Peer, HasTheSimulatorsBytesWhereMomentsAreMixedBeforeTheFirstRound) {
  const SmallExperiment experiment;
  auto config = eight(experiment, "dfrost-plus");
  config.merge.weights = SenderWeights::mass;
  config.network.faults = {.link_failure = 0.3, .active_clients = 5};
  expect_the_simulators_bytes(experiment, config);
}

TEST(Peer, HasTheSimulatorsBytesWithMomentsThatComeWithTheBackbone) {
  const SmallExperiment experiment;
  test::write_small_moments(experiment.config.backbone);
  auto config = eight(experiment, "dfrost-plus");
  config.train.frame.moments = MomentsOf::backbone;
  expect_the_simulators_bytes(experiment, config);
}

}  // namespace
}  // namespace dfrost
