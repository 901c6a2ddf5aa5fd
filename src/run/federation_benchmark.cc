#include "run/federation_benchmark.h"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "base/file.h"
#include "base/process.h"
#include "base/stopwatch.h"
#include "config/methods.h"
#include "dfrost/error.h"
#include "run/run_files.h"
#include "run/simulation.h"

namespace dfrost {
namespace {

constexpr std::size_t kSide = 32, kClasses = 10;  // as CIFAR-10 has them

Corpus random_pictures(std::size_t count) {
  Corpus corpus;
  Domain domain;
  domain.name = "random";
  for (std::size_t c = 0; c < kClasses; ++c) domain.class_names.push_back(std::to_string(c));
  domain.train_count = count;
  RandomStream random(1, "pictures of a benchmark");
  corpus.train.bytes.resize(count * kSide * kSide * 3);
  for (auto& byte : corpus.train.bytes) byte = static_cast<std::uint8_t>(random.next() >> 56);
  for (std::size_t i = 0; i < count; ++i) corpus.train.labels.push_back(static_cast<int>(i % kClasses));
  corpus.train.records = uniform_records(count, kSide, kSide, PictureKind::rgb);
  corpus.domains.push_back(std::move(domain));
  return corpus;
}

// The paper's, where there is a regular graph of it.
std::size_t degree_for(std::size_t clients) {
  const std::size_t degree = std::min<std::size_t>(5, clients - 1);
  return degree % 2 == 1 && clients % 2 == 1 ? degree - 1 : degree;
}

class NobodyWatches final : public RunNotes {
 public:
  void on_note(const std::string&) override {}
  void on_warning(const std::string&, const std::string&) override {}
};

RunConfig config_of(const FederationBenchmarkOptions& options) {
  RunConfig config;
  apply_method(config, options.method);
  config.run.rounds = std::numeric_limits<std::size_t>::max();  // the last round is always scored: never
  config.run.threads = options.threads;
  config.train.epochs = options.epochs;
  config.partition = {.kind = PartitionKind::iid, .clients_per_domain = options.clients, .min_per_client = 1};
  config.network.topology.degree = degree_for(options.clients);
  config.evaluate.every = 0;
  return config;
}

// As run_experiment() does: each round is on disk before the next. The first fills caches and workspaces.
void time_rounds(const RunConfig& config, std::size_t rounds, Simulation& federation,
                 FederationBenchmark& result) {
  const WorkFolder folder(std::filesystem::temp_directory_path(), "dfrost-bench-");
  NobodyWatches nobody;
  RunFiles files(config, {.folder = folder.path(), .clients = federation.clients().size()}, {}, nobody);
  Saver saver(folder.path() / "checkpoints", "a benchmark", 1, config.run.rounds);
  const auto clients = static_cast<double>(federation.clients().size());
  for (std::size_t round = 0; round <= rounds; ++round) {
    const double processor_before = processor_seconds();
    const std::size_t faults_before = page_faults();
    result.last = federation.run_round();
    const Stopwatch writing;
    files.add(result.last);
    saver.after_round(files.totals(), federation.state());
    files.summarize();
    result.each_round.push_back({(processor_seconds() - processor_before) / clients,
                                 static_cast<double>(page_faults() - faults_before) / clients});
    if (round == 0) continue;
    result.write_seconds += writing.seconds();
    result.seconds += result.last.seconds;
    result.processor_seconds_per_client +=
        result.each_round.back().processor_seconds / static_cast<double>(rounds);
  }
}

}  // namespace

void FederationBenchmarkOptions::validate() const {
  if (clients < 2 || pictures == 0 || epochs == 0 || rounds == 0)
    throw Error(ErrorCode::invalid_argument,
                "a benchmark needs two clients, and a picture, an epoch and a round");
}

FederationBenchmark benchmark_federation(const Backbone& backbone,
                                         const FederationBenchmarkOptions& options) {
  options.validate();
  Preprocessing how;
  how.resize = how.crop = backbone.geometry().image_size;
  auto corpus = random_pictures(options.clients * options.pictures);
  FederationBenchmark result;
  result.data_bytes = corpus.train.bytes.size();
  const std::size_t before_clients = resident_bytes();
  const RunConfig config = config_of(options);
  Simulation federation(config, backbone, how, std::move(corpus));
  result.threads = federation.threads();
  result.degree = config.network.topology.degree;
  time_rounds(config, options.rounds, federation, result);
  const auto client_rounds = static_cast<double>(options.rounds * options.clients);
  const double total = result.seconds.total() + result.write_seconds;
  result.seconds_per_client = total / client_rounds;
  result.overhead = 1 - result.seconds.train / total;
  result.state_bytes = federation.clients().front().state.values.size() * sizeof(float);
  result.peak_memory_bytes = peak_resident_bytes();
  result.client_bytes =
      (result.peak_memory_bytes - std::min(before_clients, result.peak_memory_bytes)) / options.clients;
  return result;
}

}  // namespace dfrost
