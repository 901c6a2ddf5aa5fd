#include "run/federation.h"

#include <algorithm>
#include <chrono>
#include <mutex>

#include "dfrost/error.h"
#include "dfrost/measure.h"
#include "network/mixing_factor.h"
#include "train/evaluate.h"

namespace dfrost {
namespace {

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

// Patch embeddings are kept up to this: FiveDataset's 100,000 for ViT-B/32 would take 15 GB, a demo's fit.
constexpr std::size_t kCacheBytes = std::size_t{1} << 30;

Partition partition_for(const RunConfig& config, const PooledSet& pool) {
  if (config.method.cooperation != Cooperation::central) {
    return make_partition(pool, config.partition, config.run.seed);
  }
  Partition all;
  all.clients.emplace_back(pool.train.size());
  for (std::size_t i = 0; i < pool.train.size(); ++i) all.clients.front()[i] = i;
  return all;
}

// Who would talk to whom if clients talked at all.
TopologyOptions topology_for(const RunConfig& config, std::size_t clients) {
  config.validate_network(clients);
  return config.network.topology;
}

Client make_client(const RunConfig& config, const Geometry& geometry, std::size_t classes, ClientId id,
                   const PromptOptions& prompts) {
  Client client;
  client.id = id;
  client.adapter.prompts = prompts;
  client.adapter.head = config.head;
  client.adapter.head.classes = classes;
  client.adapter.validate(geometry);
  client.state = make_client_state(client.adapter, geometry, config.run.seed, id);
  return client;
}

std::vector<DomainAccuracy> mean_by_domain(const PooledSet& pool, std::span<const Evaluation> evaluations) {
  std::vector<DomainAccuracy> domains;
  for (std::size_t d = 0; d < pool.domains.size(); ++d) {
    DomainAccuracy mean{pool.domains[d].name, 0, 0};
    for (const auto& evaluation : evaluations) {
      mean.masked += evaluation.domains[d].accuracy_masked() / static_cast<double>(evaluations.size());
      mean.unmasked += evaluation.domains[d].accuracy_unmasked() / static_cast<double>(evaluations.size());
    }
    domains.push_back(mean);
  }
  return domains;
}

// Calls the observer one at a time, with the count of clients done.
class Counter {
 public:
  Counter(const Federation::ProgressCallback& progress, std::string_view stage, std::size_t total)
      : progress_(progress), state_{stage, 0, total, 0} {
    if (progress_) progress_(state_);
  }
  void add(std::size_t images) {
    const std::lock_guard lock(mutex_);
    ++state_.done;
    state_.images += images;
    if (progress_) progress_(state_);
  }

 private:
  const Federation::ProgressCallback& progress_;
  std::mutex mutex_;
  Federation::Progress state_;
};

}  // namespace

Federation::Federation(const RunConfig& config, const Backbone& backbone, const Preprocessing& preprocessing,
                       PooledSet pool)
    : config_(config),
      backbone_(backbone),
      pool_(std::move(pool)),
      train_samples_(pool_, pool_.train, backbone, preprocessing, kCacheBytes),
      test_samples_(pool_, pool_.test, backbone, preprocessing, kCacheBytes / 4),
      partition_(partition_for(config, pool_)),
      topology_(topology_for(config, partition_.clients.size()), partition_.clients.size(), config.run.seed),
      exchanges_(partition_.clients.size()),
      threads_(config.run.threads) {
  const Geometry& geometry = backbone.geometry();
  for (std::size_t u = 0; u < partition_.clients.size(); ++u) {
    clients_.push_back(
        make_client(config, geometry, pool_.classes(), static_cast<ClientId>(u), config.prompts_of(u)));
  }
  network_model_ = make_client(config, geometry, pool_.classes(), 0, config.prompts);
  workspaces_.reserve(threads_.size());
  for (std::size_t t = 0; t < threads_.size(); ++t) workspaces_.emplace_back(backbone);
}

RoundRecord Federation::run_round(const ProgressCallback& progress) {
  ++round_;
  RoundRecord record;
  record.round = round_;
  auto network = draw_round(topology_, config_.network.faults, round_);
  if (config_.method.cooperation == Cooperation::none) network.graph = Graph(clients_.size(), {});
  record.edges = network.graph.edges().size();
  record.failed_edges = network.failed.size();
  record.absent_clients = network.absent_clients();
  // A client listens before it trains: the message of a faster neighbour must find it.
  for (const auto& client : clients_) {
    if (network.active[client.id]) exchanges_.exchange_of(client.id).begin_round(round_);
  }
  train_all(network, progress, record);
  exchange_all(network, progress, record);
  const Stopwatch measuring;
  measure(record);
  record.seconds.measure = measuring.seconds();
  if (is_evaluated(round_)) {
    const Stopwatch evaluating;
    record.evaluation = evaluate_all(progress);
    record.seconds.evaluate = evaluating.seconds();
  }
  return record;
}

void Federation::train_all(const RoundNetwork& network, const ProgressCallback& progress,
                           RoundRecord& record) {
  const Stopwatch clock;
  const std::size_t active = clients_.size() - network.absent_clients();
  Counter counter(progress, "train", active);
  std::vector<TrainReport> reports(clients_.size());
  threads_.parallel_for(clients_.size(), [&](std::size_t u, std::size_t worker) {
    if (!network.active[u]) return;
    const SampleSubset samples(train_samples_, partition_.clients[u]);
    reports[u] = train_client(clients_[u], samples, config_, round_, workspaces_[worker]);
    counter.add(reports[u].images);
  });
  for (std::size_t u = 0; u < clients_.size(); ++u) {
    if (!network.active[u]) continue;
    record.train_loss += reports[u].loss / static_cast<double>(active);
    record.images += reports[u].images;
    record.diverged_clients += reports[u].diverged ? 1 : 0;
  }
  record.seconds.train = clock.seconds();
}

// What one client saw of the exchange and did with it.
struct Federation::Loop {
  MergeReport merge;
  std::size_t refused = 0, missing = 0;
  double exchange_seconds = 0, merge_seconds = 0;
};

void Federation::exchange_all(const RoundNetwork& network, const ProgressCallback& progress,
                              RoundRecord& record) {
  const MixingMatrix mixing(network.graph);
  record.mixing_factor = mixing_factor(mixing);
  const auto sent = [&] {
    ExchangeCounts sum;
    for (std::size_t u = 0; u < clients_.size(); ++u) {
      const auto counts = exchanges_.exchange_of(static_cast<ClientId>(u)).counts();
      sum.sent_bytes += counts.sent_bytes;
      sum.sent_messages += counts.sent_messages;
    }
    return sum;
  };
  const ExchangeCounts before = sent();
  const Stopwatch sending;
  // All send before anybody receives: no client waits, and none sees a state that is already merged.
  threads_.parallel_for(clients_.size(), [&](std::size_t u, std::size_t) {
    const auto id = static_cast<ClientId>(u);
    if (network.active[u])
      send_state(clients_[u], network.graph.neighbours(id), round_, exchanges_.exchange_of(id));
  });
  record.seconds.exchange = sending.seconds();

  Counter counter(progress, "merge", clients_.size() - network.absent_clients());
  std::vector<Loop> reports(clients_.size());
  threads_.parallel_for(clients_.size(), [&](std::size_t u, std::size_t) {
    if (!network.active[u]) return;
    const Stopwatch receiving;
    const auto inbox = receive_states(clients_[u], mixing, round_, Exchange::kNoWaiting,
                                      exchanges_.exchange_of(static_cast<ClientId>(u)));
    reports[u].exchange_seconds = receiving.seconds();
    const Stopwatch merging;
    reports[u].merge = merge_states(clients_[u], inbox, config_, round_);
    reports[u].merge_seconds = merging.seconds();
    reports[u].refused = inbox.refused.size();
    reports[u].missing = inbox.missing;
    counter.add(0);
  });
  const ExchangeCounts after = sent();
  record.sent_bytes = after.sent_bytes - before.sent_bytes;
  record.sent_messages = after.sent_messages - before.sent_messages;

  std::size_t merges = 0;
  TheoryRecord theory;
  const double share = 1.0 / static_cast<double>(threads_.size());  // client seconds to wall seconds
  for (const auto& report : reports) {
    record.refused_messages += report.refused;
    record.missing_messages += report.missing;
    record.seconds.exchange += report.exchange_seconds * share;
    record.seconds.merge += report.merge_seconds * share;
    if (!report.merge.merged) continue;
    ++merges;
    record.off_index_mass += report.merge.off_index_mass;
    record.merge_error += report.merge.error;
    record.dead_prompts += report.merge.dead_prompts;
    ++theory.checked;
    if (!report.merge.theorem.held) ++theory.violated;
    theory.largest_ratio =
        std::max(theory.largest_ratio, report.merge.theorem.smallest_delta / report.merge.theorem.bound);
  }
  if (merges > 0) {
    record.off_index_mass /= static_cast<double>(merges);
    record.merge_error /= static_cast<double>(merges);
  }
  if (config_.diagnostics.theory && config_.merge.kind == MergeKind::ot) record.theory = theory;
}

void Federation::measure(RoundRecord& record) {
  std::vector<MatrixView<const float>> prompts;
  for (const auto& client : clients_) prompts.push_back(client.state.prompts());
  auto& model = network_model_.state;
  const auto consensus = consensus_error(
      prompts, {.prompts = model.prompts().rows(), .seed = config_.run.seed, .threads = threads_.size()});
  record.consensus_error = consensus.error;
  record.consensus_error_total = consensus.total;
  std::ranges::copy(consensus.barycenter, model.prompts().data());
  for (const auto& part : model.layout.parts()) {
    if (part.name == kPromptPart) continue;
    for (std::size_t i = 0; i < part.size; ++i) {
      double sum = 0;
      for (const auto& client : clients_) {
        sum += static_cast<double>(client.state.values[client.state.layout.at(part.name).offset + i]);
      }
      model.values[part.offset + i] = static_cast<float>(sum / static_cast<double>(clients_.size()));
    }
  }
}

bool Federation::is_evaluated(std::size_t round) const {
  return round >= config_.run.rounds || (config_.evaluate.every > 0 && round % config_.evaluate.every == 0);
}

// Evenly over the clients, and so over the domains, whose clients stand together.
std::vector<std::size_t> Federation::scored_clients() const {
  const std::size_t wanted = config_.evaluate.clients == 0 ? clients_.size() : config_.evaluate.clients;
  const std::size_t count = std::min(wanted, clients_.size());
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(i * clients_.size() / count);
  return chosen;
}

std::vector<std::size_t> Federation::scored_samples() const {
  std::vector<std::size_t> samples;
  for (const auto& domain : pool_.domains) {
    const std::size_t wanted = config_.evaluate.samples == 0 ? domain.test_count : config_.evaluate.samples;
    std::vector<int> labels;
    for (std::size_t i = 0; i < domain.test_count; ++i) {
      labels.push_back(pool_.test.labels[domain.first_test + i] - domain.first_class);
    }
    RandomStream stream(config_.run.seed, "evaluate " + domain.name);
    for (const std::size_t i :
         balanced_subset(labels, domain.class_names.size(), std::min(wanted, domain.test_count), stream)) {
      samples.push_back(domain.first_test + i);
    }
  }
  return samples;
}

EvaluationRecord Federation::evaluate_all(const ProgressCallback& progress) {
  const auto chosen = scored_clients();
  const auto samples = scored_samples();
  const std::size_t models = chosen.size() + 1;  // and the network model, last
  Counter counter(progress, "evaluate", models);
  std::vector<Evaluation> evaluations(models);
  threads_.parallel_for(models, [&](std::size_t i, std::size_t worker) {
    const Client& client = i < chosen.size() ? clients_[chosen[i]] : network_model_;
    evaluations[i] = evaluate(client.adapter, client.state, test_samples_, samples,
                              {config_.train.mask, config_.evaluate.batch}, workspaces_[worker]);
    counter.add(0);
  });
  EvaluationRecord record;
  record.clients = chosen;
  record.samples = samples.size();
  std::vector<double> masked, unmasked;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto total = evaluations[i].total();
    masked.push_back(total.accuracy_masked());
    unmasked.push_back(total.accuracy_unmasked());
    record.loss += total.loss() / static_cast<double>(chosen.size());
  }
  record.accuracy_masked = spread_of(masked);
  record.accuracy_unmasked = spread_of(unmasked);
  record.domains = mean_by_domain(pool_, std::span(evaluations).first(chosen.size()));
  record.network_domains = mean_by_domain(pool_, std::span(evaluations).last(1));
  const auto network = evaluations.back().total();
  record.network_accuracy_masked = network.accuracy_masked();
  record.network_accuracy_unmasked = network.accuracy_unmasked();
  record.network_loss = network.loss();
  return record;
}

std::vector<float> Federation::values() const {
  std::vector<float> all;
  for (const auto& client : clients_)
    all.insert(all.end(), client.state.values.begin(), client.state.values.end());
  return all;
}

void Federation::restore(std::size_t round, std::span<const float> values) {
  std::size_t expected = 0;
  for (const auto& client : clients_) expected += client.state.values.size();
  if (values.size() != expected) {
    throw Error(ErrorCode::data_loss,
                "the checkpoint holds another number of values than this federation trains");
  }
  for (auto& client : clients_) {
    std::ranges::copy(values.first(client.state.values.size()), client.state.values.begin());
    values = values.subspan(client.state.values.size());
  }
  round_ = round;
  RoundRecord unused;
  measure(unused);  // the network model follows from the clients
}

}  // namespace dfrost
