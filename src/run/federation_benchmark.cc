#include "run/federation_benchmark.h"

#include <algorithm>
#include <limits>

#include "base/process.h"
#include "config/methods.h"
#include "dfrost/error.h"
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

RunConfig config_of(const FederationBenchmarkOptions& options) {
  RunConfig config;
  apply_method(config, options.method);
  config.run.rounds = std::numeric_limits<std::size_t>::max();  // the last round is always scored: never
  config.run.threads = options.threads;
  config.train.epochs = options.epochs;
  config.partition = {.kind = PartitionKind::iid, .clients_per_domain = options.clients, .min_per_client = 1};
  config.network.topology.degree = std::min<std::size_t>(4, options.clients - 1);
  config.evaluate.every = 0;
  return config;
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
  Simulation federation(config_of(options), backbone, how, std::move(corpus));
  result.threads = federation.threads();
  federation.run_round();  // fills caches and workspaces
  for (std::size_t round = 0; round < options.rounds; ++round)
    result.seconds += federation.run_round().seconds;
  const double total = result.seconds.total();
  result.seconds_per_client = total / static_cast<double>(options.rounds * options.clients);
  result.overhead = 1 - result.seconds.train / total;
  result.peak_memory_bytes = peak_resident_bytes();
  return result;
}

}  // namespace dfrost
