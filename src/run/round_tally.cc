#include "run/round_tally.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/stopwatch.h"
#include "measure/mixing_factor.h"
#include "run/class_mass.h"
#include "run/private_round.h"

namespace dfrost {
namespace {

// Nobody can look at the graph of more.
constexpr std::size_t kMostDrawnClients = 500;

RoundGraph graph_of(const RoundNetwork& network) {
  RoundGraph graph{network.graph.edges(), network.failed, {}};
  for (std::size_t u = 0; u < network.active.size(); ++u) {
    if (!network.active[u]) graph.absent.push_back(static_cast<ClientId>(u));
  }
  return graph;
}

// A client that is absent, has no pictures or diverged has no loss to speak of.
bool has_loss(const NodeReport& report) { return report.train.images > 0 && !report.train.diverged; }

void tally_seconds(std::span<const NodeReport> reports, double wall_seconds, StageSeconds& seconds) {
  double exchange = 0, merge = 0, measure = 0;
  for (const auto& report : reports) {
    exchange += report.exchange_seconds;
    merge += report.merge.merge_seconds;
    measure += report.merge.measure_seconds;
  }
  const double sum = exchange + merge + measure;
  const double share = sum > 0 ? wall_seconds / sum : 0;
  seconds.exchange += exchange * share;
  seconds.merge += merge * share;
  seconds.measure += measure * share;
}

}  // namespace

void tally_network(const RoundNetwork& network, RoundRecord& record) {
  record.edges = network.graph.edges().size();
  record.failed_edges = network.failed.size();
  record.absent_clients = network.absent_clients();
  if (network.active.size() <= kMostDrawnClients) record.graph = graph_of(network);
}

void tally_mixing(const RoundPlan& plan, RoundRecord& record) {
  const Stopwatch measuring;
  auto estimate = estimate_mixing(plan.mixing);
  record.mixing_factor = estimate.factor;
  if (plan.network.absent_clients() > 0) {
    const MixingMatrix active(plan.network.graph_of_active());
    estimate = estimate_mixing(plan.lazy_mixing ? active.lazy() : active);
  }
  record.active_mixing_factor = estimate.factor;
  record.mixing_factor_error = estimate.error;
  record.seconds.measure += measuring.seconds();
}

void tally_round(RoundOutcome& outcome, RoundRecord& record) {
  tally_training(outcome.nodes, record);
  record.seconds.train += outcome.work_seconds;
  record.seconds.exchange += outcome.send_seconds;
  tally_exchange(outcome.nodes, outcome.absorb_seconds, record);
  record.kernel = tally_kernels(outcome.nodes);
}

std::optional<KernelRecord> tally_kernels(std::span<const NodeReport> reports) {
  const auto took = static_cast<double>(
      std::ranges::count_if(reports, [](const auto& report) { return report.kernel.has_value(); }));
  if (took == 0) return std::nullopt;
  KernelRecord mean;
  for (const auto& report : reports) {
    if (!report.kernel) continue;
    mean.pictures += static_cast<double>(report.kernel->pictures) / took;
    mean.steps += static_cast<double>(report.kernel->steps) / took;
    mean.evaluations += static_cast<double>(report.kernel->evaluations) / took;
  }
  return mean;
}

void tally_training(std::span<const NodeReport> reports, RoundRecord& record) {
  const auto trained = static_cast<double>(std::ranges::count_if(reports, has_loss));
  if (trained > 0) record.train_loss = 0;
  for (const auto& report : reports) {
    if (has_loss(report)) record.train_loss += report.train.loss / trained;
    record.images += report.train.images;
    record.diverged_clients += report.train.diverged ? 1 : 0;
  }
}

void tally_exchange(std::span<NodeReport> reports, double wall_seconds, RoundRecord& record) {
  tally_seconds(reports, wall_seconds, record.seconds);
  double merges = 0, off_index_mass = 0, error = 0;
  for (auto& report : reports) {
    record.refused_messages += report.refused;
    record.missing_messages += report.missing;
    record.dropped_prompts += report.merge.dropped_prompts;
    if (!report.merge.merged) continue;
    ++merges;
    off_index_mass += report.merge.off_index_mass;
    error += report.merge.error;
    record.dead_prompts += report.merge.dead_prompts;
    if (report.merge.view) record.merge_views.push_back(std::move(*report.merge.view));
  }
  if (merges == 0) return;
  record.off_index_mass = off_index_mass / merges;
  record.merge_error = error / merges;
}

DefenceRecord tally_defence(std::span<const NodeReport> reports) {
  DefenceRecord record;
  double merges = 0;
  for (const auto& report : reports) {
    if (!report.merge.merged) continue;
    const auto& doubted = report.merge.defence;
    const auto add = [&](const std::vector<ClientId>& senders, std::vector<DefenceRecord::Doubt>& doubts) {
      for (const ClientId sender : senders) doubts.push_back({report.node, sender});
    };
    add(doubted.rejected, record.rejected);
    add(doubted.clipped_prompts, record.clipped_prompts);
    add(doubted.clipped_heads, record.clipped_heads);
    add(doubted.skipped_heads, record.skipped_heads);
    record.softened_mass += doubted.softened_mass;
    ++merges;
  }
  if (merges > 0) record.softened_mass /= merges;
  return record;
}

TheoryRecord tally_theory(std::span<const NodeReport> reports) {
  TheoryRecord theory;
  for (const auto& report : reports) {
    if (!report.merge.merged) continue;
    const auto& theorem = report.merge.theorem;
    ++theory.checked;
    if (!theorem.held) ++theory.violated;
    theory.largest_ratio = std::max(theory.largest_ratio, theorem.smallest_delta / theorem.bound);
  }
  return theory;
}

PrivacyRecord tally_privacy(std::span<const Node> clients, double delta) {
  PrivacyRecord record;
  record.delta = delta;
  std::map<std::vector<float>, double> known;  // most accounts are alike
  for (const auto& client : clients) {
    const auto account = client.memory.find(kAccount);
    double epsilon = 0;
    if (account != client.memory.end()) {
      const auto [place, is_new] = known.try_emplace(account->second.values, 0.0);
      if (is_new) place->second = spent_epsilon(client, delta).value_or(0);
      epsilon = place->second;
    }
    record.clients.push_back(epsilon);
    record.epsilon = std::max(record.epsilon, epsilon);
    record.mean_epsilon += epsilon / static_cast<double>(clients.size());
  }
  return record;
}

ClassMassRecord tally_class_mass(std::span<const Node> clients) {
  ClassMassRecord record;
  std::vector<double> squares;
  for (const auto& client : clients) {
    const auto mass = client.memory.find(kMass);
    if (mass == client.memory.end()) continue;
    record.total.resize(mass->second.values.size(), 0.0);
    squares.resize(record.total.size(), 0.0);
    for (std::size_t c = 0; c < squares.size(); ++c) {
      const auto own = static_cast<double>(mass->second.values[c]);
      record.total[c] += own;
      squares[c] += own * own;
    }
  }
  double classes = 0;
  for (std::size_t c = 0; c < squares.size(); ++c) {
    if (!(squares[c] > 0)) continue;
    record.spread += record.total[c] * record.total[c] / (static_cast<double>(clients.size()) * squares[c]);
    ++classes;
  }
  if (classes > 0) record.spread /= classes;
  return record;
}

}  // namespace dfrost
