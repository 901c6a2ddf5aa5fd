// Eight sites with keys, files and ports of their own, linked by TLS on loopback, a thread each: without
// faults every adapter is, byte for byte, the one that the simulator makes.
#include <gtest/gtest.h>

#include <exception>
#include <thread>

#include "base/file.h"
#include "config/methods.h"
#include "peer/replay.h"
#include "peer/thread_federation.h"
#include "peer/trial.h"
#include "run/write_adapters.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;
using test::SmallExperiment;

void run_all(const std::vector<fs::path>& sites) {
  std::vector<std::exception_ptr> failures(sites.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < sites.size(); ++i)
    threads.emplace_back([&, i] {
      try {
        test::QuietObserver observer;
        run_peer(open_site(sites[i]), {}, observer);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    });
  for (auto& thread : threads) thread.join();
  for (const auto& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

void expect_the_simulators_bytes(const RunConfig& config, const fs::path& folder) {
  const Trial trial =
      make_trial(config, {.sites = 8, .folder = folder / config.run.name, .heartbeat_seconds = 5});
  test::StoppingObserver nobody;
  const fs::path simulated = folder / (config.run.name + "-simulated");
  run_experiment(trial.config, {simulated, false}, nobody);
  run_all(trial.sites);
  for (ClientId u = 0; u < 8; ++u) {
    const auto name = "adapter/" + adapter_name(u) + ".safetensors";
    EXPECT_EQ(read_text_file(trial.sites[u] / "run" / name), read_text_file(simulated / name))
        << config.run.name << ", member " << u;
  }
  test::QuietObserver notes;
  const auto replay = replay_sites(trial.sites, notes);
  EXPECT_TRUE(replay.same());
  for (const auto& site : replay.sites) EXPECT_EQ(site.missed + site.jumps + site.adoptions, 0u) << site.name;
}

RunConfig named(const SmallExperiment& experiment, const std::string& name, const std::string& method) {
  RunConfig config = experiment.config;
  config.run.name = name;
  config.diagnostics.theory = false;
  config.evaluate = {.every = 0, .clients = 1, .samples = 2};
  apply_method(config, method);
  config.train.optimizer.learning_rate = 1e-2;
  return config;
}

TEST(TlsSites, HaveTheSimulatorsBytesInSixExperiments) {
  const SmallExperiment experiment;
  expect_the_simulators_bytes(named(experiment, "transport", "dfrost"), experiment.folder.path());
  auto redrawn = named(experiment, "budgets", "dfrost");
  redrawn.network.topology = {.kind = TopologyKind::regular, .degree = 3};
  redrawn.prompts.counts = {2, 4, 3};
  expect_the_simulators_bytes(redrawn, experiment.folder.path());
  auto average = named(experiment, "momentum", "dfedavgm");
  average.network.faults = {.link_failure = 0.2, .active_clients = 6};
  expect_the_simulators_bytes(average, experiment.folder.path());
  auto pool = named(experiment, "pool", "dfrost");
  pool.prompts.count = 2;
  pool.prompts.pool = 5;
  expect_the_simulators_bytes(pool, experiment.folder.path());
  expect_the_simulators_bytes(named(experiment, "dgd", "dgd"), experiment.folder.path());
  expect_the_simulators_bytes(named(experiment, "d2", "d2"), experiment.folder.path());
}

TEST(TlsSites, HaveTheSimulatorsBytesInWhitenedCoordinates) {
  const SmallExperiment experiment;
  expect_the_simulators_bytes(named(experiment, "whitened", "dfrost-plus"), experiment.folder.path());
}

}  // namespace
}  // namespace dfrost
