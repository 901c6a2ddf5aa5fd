#include "run/federation.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/stopwatch.h"
#include "dfrost/measure.h"
#include "dfrost/wasserstein.h"
#include "measure/evaluation.h"
#include "measure/mixing_factor.h"
#include "run/pool_keys.h"
#include "run/round_tally.h"

namespace dfrost {
namespace {

// Of the memory for patch embeddings, a fifth is for test pictures: they are fewer, and come up less often.
std::size_t cache_bytes(const RunConfig& config, std::size_t fifths) {
  return (config.data.cache_mb << 20) / 5 * fifths;
}

Partition partition_for(const RunConfig& config, const Corpus& corpus) {
  if (config.method.cooperation != Cooperation::central) {
    return make_partition(corpus, config.partition, config.run.seed);
  }
  Partition all;
  all.clients.emplace_back(corpus.train.size());
  for (std::size_t i = 0; i < corpus.train.size(); ++i) all.clients.front()[i] = i;
  return all;
}

// Where nobody talks, [network] may hold what does not fit so many clients: it is not looked at.
TopologyOptions topology_for(const RunConfig& config, std::size_t clients) {
  config.validate_network(clients);
  return config.method.cooperation == Cooperation::peers ? config.network.topology
                                                         : TopologyOptions{.kind = TopologyKind::ring};
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

ExchangeCounts sent_by_all(InProcessNetwork& exchanges, std::size_t clients) {
  ExchangeCounts sum;
  for (std::size_t u = 0; u < clients; ++u) {
    const auto counts = exchanges.exchange_of(static_cast<ClientId>(u)).counts();
    sum.sent_bytes += counts.sent_bytes;
    sum.sent_messages += counts.sent_messages;
  }
  return sum;
}

// Every part but prompts and keys becomes the clients' mean, summed in double in the order of the clients.
void average_all_but_prompts(std::span<const Client> clients, ClientState& mean) {
  for (const auto& part : mean.layout.parts()) {
    if (part.name == kPromptPart || part.name == kKeysPart) continue;
    std::vector<double> sums(part.size, 0.0);
    for (const auto& client : clients) {
      const float* own = client.state.part(part.name).data();
      for (std::size_t i = 0; i < part.size; ++i) sums[i] += static_cast<double>(own[i]);
    }
    for (std::size_t i = 0; i < part.size; ++i)
      mean.values[part.offset + i] = static_cast<float>(sums[i] / static_cast<double>(clients.size()));
  }
}

// The keys of prompts that are the barycenter of the clients' prompts already.
void average_keys_of(std::span<const Client> clients, ThreadPool& threads, ClientState& mean) {
  std::vector<MatrixView<const float>> keys;
  for (const auto& client : clients) keys.push_back(client.state.part(kKeysPart));
  std::vector<Transport> transports(clients.size());
  threads.parallel_for(clients.size(), [&](std::size_t u, std::size_t) {
    transports[u] = wasserstein2_squared({clients[u].state.prompts()}, {std::as_const(mean).prompts()});
  });
  average_keys(keys, transports, mean.part(kKeysPart));
}

// The first `per_domain` clients of each domain: whose merges are kept to be looked at.
std::vector<bool> seen_clients(const Partition& partition, const Corpus& corpus, std::size_t per_domain) {
  std::vector<std::size_t> seen(corpus.domains.size(), 0);
  std::vector<bool> chosen;
  for (const auto& home : home_domains(partition, corpus)) {
    chosen.push_back(home && seen[*home]++ < per_domain);
  }
  return chosen;
}

}  // namespace

Federation::Federation(const RunConfig& config, const Backbone& backbone, const Preprocessing& preprocessing,
                       Corpus corpus)
    : config_(config),
      corpus_(std::move(corpus)),
      train_samples_(corpus_, corpus_.train, backbone, preprocessing, cache_bytes(config, 4)),
      test_samples_(corpus_, corpus_.test, backbone, preprocessing, cache_bytes(config, 1)),
      partition_(partition_for(config, corpus_)),
      seen_(seen_clients(partition_, corpus_, config.diagnostics.merge_views)),
      topology_(topology_for(config, partition_.clients.size()), partition_.clients.size(), config.run.seed),
      exchanges_(partition_.clients.size()),
      threads_(config.run.threads) {
  const Geometry& geometry = backbone.geometry();
  for (std::size_t u = 0; u < partition_.clients.size(); ++u) {
    clients_.push_back(
        make_client(config, geometry, corpus_.classes(), static_cast<ClientId>(u), config.prompts_of(u)));
  }
  network_model_ = make_client(config, geometry, corpus_.classes(), 0, config.prompts);
  workspaces_.reserve(threads_.size());
  for (std::size_t t = 0; t < threads_.size(); ++t) workspaces_.emplace_back(backbone);
}

RoundRecord Federation::run_round(const ProgressCallback& progress) {
  ++round_;
  RoundRecord record;
  record.round = round_;
  const auto network = draw_network();
  tally_network(network, record);
  // A client listens before it trains: the message of a faster neighbour must find it.
  for (const auto& client : clients_) {
    if (network.active[client.id]) exchanges_.exchange_of(client.id).begin({.round = round_});
  }
  train_all(network, progress, record);
  exchange_all(network, progress, record);
  const Stopwatch measuring;
  measure(record);
  record.seconds.measure += measuring.seconds();
  if (is_evaluated(round_)) {
    const Stopwatch evaluating;
    record.evaluation = evaluate_all(progress);
    record.seconds.evaluate = evaluating.seconds();
  }
  return record;
}

RoundNetwork Federation::draw_network() const {
  if (config_.method.cooperation == Cooperation::peers)
    return draw_round(topology_, config_.network.faults, round_);
  RoundNetwork silence;
  silence.graph = Graph(clients_.size(), {});
  silence.active.assign(clients_.size(), true);
  return silence;
}

RoundRecord Federation::score_untrained(const ProgressCallback& progress) {
  RoundRecord record;
  const Stopwatch measuring;
  measure(record);
  record.seconds.measure = measuring.seconds();
  const Stopwatch evaluating;
  record.evaluation = evaluate_all(progress);
  record.seconds.evaluate = evaluating.seconds();
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
  tally_training(reports, record);
  record.seconds.train = clock.seconds();
}

void Federation::exchange_all(const RoundNetwork& network, const ProgressCallback& progress,
                              RoundRecord& record) {
  const MixingMatrix mixing(network.graph);
  const Stopwatch measuring;
  record.mixing_factor = mixing_factor(mixing);
  record.active_mixing_factor = network.absent_clients() == 0
                                    ? record.mixing_factor
                                    : mixing_factor(MixingMatrix(network.graph_of_active()));
  record.seconds.measure = measuring.seconds();
  const ExchangeCounts before = sent_by_all(exchanges_, clients_.size());
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
  std::vector<ExchangeReport> reports(clients_.size());
  const Stopwatch side_by_side;
  threads_.parallel_for(clients_.size(), [&](std::size_t u, std::size_t) {
    if (!network.active[u]) return;
    const Stopwatch receiving;
    const auto inbox = receive_states(clients_[u], mixing, round_, Exchange::kNoWaiting,
                                      exchanges_.exchange_of(static_cast<ClientId>(u)));
    reports[u].exchange_seconds = receiving.seconds();
    reports[u].merge = merge_states(clients_[u], inbox, config_, round_, views && seen_[u]);
    reports[u].refused = inbox.refused.size();
    reports[u].missing = inbox.missing;
    counter.add(0);
  });
  tally_exchange(reports, side_by_side.seconds(), record);
  const ExchangeCounts after = sent_by_all(exchanges_, clients_.size());
  record.sent_bytes = after.sent_bytes - before.sent_bytes;
  record.sent_messages = after.sent_messages - before.sent_messages;
  if (config_.diagnostics.theory && config_.merge.kind == MergeKind::ot)
    record.theory = tally_theory(reports);
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
  average_all_but_prompts(clients_, model);
  if (model.layout.contains(kKeysPart)) average_keys_of(clients_, threads_, model);
}

bool Federation::is_evaluated(std::size_t round) const {
  return round >= config_.run.rounds || (config_.evaluate.every > 0 && round % config_.evaluate.every == 0);
}

EvaluationRecord Federation::evaluate_all(const ProgressCallback& progress) {
  const auto chosen = scored_clients(config_.evaluate, clients_.size());
  const auto samples = scored_samples(config_.evaluate, corpus_, config_.run.seed);
  const std::size_t models = chosen.size() + 1;  // and the network model, last
  Counter counter(progress, "evaluate", models);
  std::vector<Evaluation> evaluations(models);
  threads_.parallel_for(models, [&](std::size_t i, std::size_t worker) {
    const Client& client = i < chosen.size() ? clients_[chosen[i]] : network_model_;
    evaluations[i] = evaluate(client.adapter, client.state, test_samples_, samples,
                              {config_.train.mask, config_.evaluate.batch}, workspaces_[worker]);
    counter.add(0);
  });
  return summarize_scores(corpus_, chosen, samples.size(), evaluations);
}

Participants Federation::participants() const {
  Participants all{corpus_, partition_, {}, threads_.size()};
  for (const auto& client : clients_) all.prompts.push_back(client.state.prompts().rows());
  return all;
}

FederationState Federation::state() const { return gather_state(clients_, config_.train.optimizer_state); }

void Federation::restore(std::size_t round, const FederationState& state) {
  scatter_state(state, config_.train, clients_);
  round_ = round;
  RoundRecord unused;
  measure(unused);  // the network model follows from the clients
}

}  // namespace dfrost
