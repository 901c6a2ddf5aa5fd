#include "run/federation.h"

#include <algorithm>
#include <chrono>
#include <mutex>

#include "dfrost/error.h"
#include "dfrost/measure.h"
#include "network/mixing_factor.h"
#include "run/evaluation.h"

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

// Nobody can look at the graph of more.
constexpr std::size_t kMostDrawnClients = 500;

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

// What one client saw of the exchange and did with it.
struct ClientLoop {
  MergeReport merge;
  std::size_t refused = 0, missing = 0;
  double exchange_seconds = 0, merge_seconds = 0;
};

// `share` turns seconds of one client into wall seconds.
void add_loops(std::span<ClientLoop> loops, double share, RoundRecord& record) {
  std::size_t merges = 0;
  for (auto& loop : loops) {
    record.refused_messages += loop.refused;
    record.missing_messages += loop.missing;
    record.seconds.exchange += loop.exchange_seconds * share;
    record.seconds.merge += loop.merge_seconds * share;
    if (!loop.merge.merged) continue;
    ++merges;
    record.off_index_mass += loop.merge.off_index_mass;
    record.merge_error += loop.merge.error;
    record.dead_prompts += loop.merge.dead_prompts;
    if (loop.merge.view) record.merge_views.push_back(std::move(*loop.merge.view));
  }
  if (merges > 0) {
    record.off_index_mass /= static_cast<double>(merges);
    record.merge_error /= static_cast<double>(merges);
  }
}

TheoryRecord check_theory(std::span<const ClientLoop> loops) {
  TheoryRecord theory;
  for (const auto& loop : loops) {
    if (!loop.merge.merged) continue;
    const auto& theorem = loop.merge.theorem;
    ++theory.checked;
    if (!theorem.held) ++theory.violated;
    theory.largest_ratio = std::max(theory.largest_ratio, theorem.smallest_delta / theorem.bound);
  }
  return theory;
}

RoundGraph graph_of(const RoundNetwork& network) {
  RoundGraph graph{network.graph.edges(), network.failed, {}};
  for (std::size_t u = 0; u < network.active.size(); ++u) {
    if (!network.active[u]) graph.absent.push_back(static_cast<ClientId>(u));
  }
  return graph;
}

// The first `per_domain` clients of each domain: whose merges are kept to be looked at.
std::vector<bool> seen_clients(const Partition& partition, const PooledSet& pool, std::size_t per_domain) {
  std::vector<std::size_t> seen(pool.domains.size(), 0);
  std::vector<bool> chosen;
  for (const auto& home : home_domains(partition, pool)) {
    chosen.push_back(home && seen[*home]++ < per_domain);
  }
  return chosen;
}

}  // namespace

Federation::Federation(const RunConfig& config, const Backbone& backbone, const Preprocessing& preprocessing,
                       PooledSet pool)
    : config_(config),
      backbone_(backbone),
      pool_(std::move(pool)),
      train_samples_(pool_, pool_.train, backbone, preprocessing, kCacheBytes),
      test_samples_(pool_, pool_.test, backbone, preprocessing, kCacheBytes / 4),
      partition_(partition_for(config, pool_)),
      seen_(seen_clients(partition_, pool_, config.diagnostics.merge_views)),
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
  if (clients_.size() <= kMostDrawnClients) record.graph = graph_of(network);
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

RoundRecord Federation::score_untrained(const ProgressCallback& progress) {
  RoundRecord record;
  measure(record);
  record.evaluation = evaluate_all(progress);
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

void Federation::exchange_all(const RoundNetwork& network, const ProgressCallback& progress,
                              RoundRecord& record) {
  const MixingMatrix mixing(network.graph);
  record.mixing_factor = mixing_factor(mixing);
  record.active_mixing_factor = network.absent_clients() == 0
                                    ? record.mixing_factor
                                    : mixing_factor(MixingMatrix(network.graph_of_active()));
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
  const bool views = is_evaluated(round_);
  std::vector<ClientLoop> loops(clients_.size());
  threads_.parallel_for(clients_.size(), [&](std::size_t u, std::size_t) {
    if (!network.active[u]) return;
    const Stopwatch receiving;
    const auto inbox = receive_states(clients_[u], mixing, round_, Exchange::kNoWaiting,
                                      exchanges_.exchange_of(static_cast<ClientId>(u)));
    loops[u].exchange_seconds = receiving.seconds();
    const Stopwatch merging;
    loops[u].merge = merge_states(clients_[u], inbox, config_, round_, views && seen_[u]);
    loops[u].merge_seconds = merging.seconds();
    loops[u].refused = inbox.refused.size();
    loops[u].missing = inbox.missing;
    counter.add(0);
  });
  const ExchangeCounts after = sent();
  record.sent_bytes = after.sent_bytes - before.sent_bytes;
  record.sent_messages = after.sent_messages - before.sent_messages;

  add_loops(loops, 1.0 / static_cast<double>(threads_.size()), record);
  if (config_.diagnostics.theory && config_.merge.kind == MergeKind::ot) record.theory = check_theory(loops);
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

EvaluationRecord Federation::evaluate_all(const ProgressCallback& progress) {
  const auto chosen = scored_clients(config_.evaluate, clients_.size());
  const auto samples = scored_samples(config_.evaluate, pool_, config_.run.seed);
  const std::size_t models = chosen.size() + 1;  // and the network model, last
  Counter counter(progress, "evaluate", models);
  std::vector<Evaluation> evaluations(models);
  threads_.parallel_for(models, [&](std::size_t i, std::size_t worker) {
    const Client& client = i < chosen.size() ? clients_[chosen[i]] : network_model_;
    evaluations[i] = evaluate(client.adapter, client.state, test_samples_, samples,
                              {config_.train.mask, config_.evaluate.batch}, workspaces_[worker]);
    counter.add(0);
  });
  return summarize_scores(pool_, chosen, samples.size(), evaluations);
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
