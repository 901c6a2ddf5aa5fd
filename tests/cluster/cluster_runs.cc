// Small experiments, each by one process and then by 1, 2, 3 and 5 ranks with 1 and 2 threads each, stopped
// after a round and gone on with by another number of them. For same_bytes.py, which starts it by mpirun -n 5
// and compares what they left:  cluster_runs FOLDER
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "config/toml_file.h"
#include "run/small_experiment.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBase = R"(
run = {name = "small", seed = 3, rounds = 3, threads = 1}
backbone = {path = "model.safetensors", precision = "fp32"}
data.domains = [{name = "warm", path = "warm", format = "records"}, {name = "cold", path = "cold", format = "records"}]
data.train_per_domain = 24
data.test_per_domain = 10
partition = {kind = "dirichlet", clients_per_domain = 3, min_per_client = 1}
network.topology = "ring"
train = {learning_rate = 1e-2, batch = 4}
prompts.count = 3
evaluate = {every = 1, clients = 4, samples = 5}
)";

using Settings = std::vector<std::string>;
const std::vector<Settings> kExperiments = {
    {"method.name=dfrost", "diagnostics.theory=true", "diagnostics.merge_views=1"},
    {"method.name=dfrost", "network.link_failure=0.3", "network.topology=erdos-renyi", "network.degree=3"},
    {"method.name=dfrost", "network.active_clients=4", "train.optimizer_state=kept", "network.topology=full"},
    {"method.name=dfrost+", "prompts.pool=6", "prompts.keys=separate", "prompts.similarity_weight=-0.5"},
    {"method.name=d2", "method.gradient=batch"},
    {"method.name=fedavg-pt", "network.active_clients=3"},
    {"method.name=dfrost", "merge.head=class-mass", "merge.weights=mass", "prompts.counts=[3,2,4]"},
    {"method.name=pfpt-decentralized", "prompts.pool=6", "merge.pool_limit=12", "merge.pool_passes=2"},
    {"method.name=dfrost", "merge.metric=first-block", "prompts.init=independent"},
    {"method.name=local"},
};

// Ends a run between two rounds.
class StopsAfter final : public RunObserver {
 public:
  explicit StopsAfter(std::size_t round) : round_(round) {}
  void on_note(const std::string&) override {}
  void on_warning(const std::string&, const std::string&) override {}
  void on_ready(const RunConfig&, const Simulation&, const Backbone&) override {}
  void on_progress(const RoundProgress&) override {}
  void on_round(const RoundRecord& record) override {
    if (record.round == round_) throw Error(ErrorCode::cancelled, "stopped by the test");
  }

 private:
  std::size_t round_;
};

constexpr std::size_t kNever = 1'000;

RunConfig config_of(const Settings& settings, const fs::path& files, std::size_t threads) {
  Settings all = settings;
  all.push_back("run.threads=" + std::to_string(threads));
  return parse_config(kBase, "cluster_runs", files, all);
}

class Trial {
 public:
  Trial(Communicator& world, fs::path folder) : world_(world), folder_(std::move(folder)) {}

  void run_all() {
    for (std::size_t i = 0; i < kExperiments.size(); ++i) {
      const fs::path at = folder_ / ("experiment-" + std::to_string(i));
      if (world_.rank() == 0) {
        StopsAfter never(kNever);
        run_experiment(config_of(kExperiments[i], folder_, 1), {.folder = at / "alone"}, never);
      }
      for (const std::size_t ranks : {1, 2, 3, 5}) {
        const auto name = "ranks-" + std::to_string(ranks);
        for (const std::size_t threads : {1, 2})
          run(kExperiments[i], {at / (name + "-threads-" + std::to_string(threads))}, ranks, threads, kNever);
      }
      run(kExperiments[i], {at / "resumed"}, 3, 1, 1);
      run(kExperiments[i], {at / "resumed", true}, 2, 2, 2);
      run(kExperiments[i], {at / "resumed", true}, 5, 1, kNever);
    }
  }

 private:
  // By the first so many ranks, the others meanwhile wait.
  void run(const Settings& settings, const RunOptions& options, std::size_t ranks, std::size_t threads,
           std::size_t rounds) {
    auto some = world_.first(ranks);
    if (!some) return;
    Cluster cluster(*some);
    const auto load = [&] { return config_of(settings, folder_, threads); };
    if (!cluster.leads()) return cluster.follow(load);
    try {
      StopsAfter stops(rounds);
      run_experiment(load(), options, stops, cluster);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::cancelled) throw;
    }
  }

  Communicator& world_;
  fs::path folder_;
};

}  // namespace
}  // namespace dfrost

int main(int count, char** arguments) {
  if (count != 2) return 2;
  auto world = dfrost::Communicator::start();
  try {
    const std::filesystem::path folder = arguments[1];
    if (world.rank() == 0) dfrost::test::write_small_files(folder);
    world.gather_everywhere({});  // the files are there
    dfrost::Trial(world, folder).run_all();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %zu: %s\n", world.rank(), error.what());
    world.abort(1);
  }
  return 0;
}
