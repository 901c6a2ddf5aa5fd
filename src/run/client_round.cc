#include "run/client_round.h"

#include <algorithm>
#include <memory>

#include "base/stopwatch.h"
#include "dfrost/measure.h"
#include "run/pool_keys.h"

namespace dfrost {
namespace {

std::vector<TensorPattern> patterns_of(const Client& client) {
  std::vector<TensorPattern> patterns;
  for (const auto& part : client.state.layout.parts()) {
    patterns.push_back({part.name, part.shape});
    // Clients may hold different numbers of prompts; all else must fit.
    if (part.name == kPromptPart) patterns.back().shape.front() = 0;
  }
  return patterns;
}

// own ← self_weight·own + Σ weight·theirs, summed in double in the order of the senders.
void average_part(const StateLayout::Part& part, const Inbox& inbox, std::span<float> own) {
  std::vector<std::span<const float>> theirs;
  for (const auto& message : inbox.messages)
    theirs.emplace_back(message.tensors.find(part.name)->second.values);
  for (std::size_t i = 0; i < own.size(); ++i) {
    double sum = inbox.self_weight * static_cast<double>(own[i]);
    for (std::size_t s = 0; s < theirs.size(); ++s)
      sum += inbox.weights[s] * static_cast<double>(theirs[s][i]);
    own[i] = static_cast<float>(sum);
  }
}

// A part of the client's own, then of every sender.
std::vector<MatrixView<const float>> part_of_all(const Client& client, const Inbox& inbox,
                                                 std::string_view name) {
  std::vector<MatrixView<const float>> all = {client.state.part(name)};
  const std::size_t width = all.front().cols();
  for (const auto& message : inbox.messages) {
    const auto& tensor = message.tensors.find(name)->second;
    all.emplace_back(tensor.values.data(), tensor.shape.front(), width);
  }
  return all;
}

std::vector<ClientId> ids_of_all(const Client& client, const Inbox& inbox) {
  std::vector<ClientId> all = {client.id};
  for (const auto& message : inbox.messages) all.push_back(message.sender());
  return all;
}

// What is not moved by the merge of the prompts, `summary`, is averaged or stays.
void merge_all_but_prompts(const Inbox& inbox, const MergeSection& options, const MergeSummary& summary,
                           Client& client) {
  for (const auto& part : client.state.layout.parts()) {
    if (part.name == kPromptPart) continue;
    if (part.name == kKeysPart && options.kind != MergeKind::average) {
      merge_keys(part_of_all(client, inbox, kKeysPart), summary, client.state.part(kKeysPart));
    } else if (options.head == HeadMerge::average) {
      average_part(part, inbox, std::span(client.state.values).subspan(part.offset, part.size));
    }
  }
}

// The mixing weights of the client itself and of each sender, or none for equal ones.
std::vector<double> sender_weights(const Inbox& inbox, const MergeSection& options) {
  if (options.kind != MergeKind::average && options.weights == SenderWeights::equal) return {};
  std::vector<double> weights = {inbox.self_weight};
  weights.insert(weights.end(), inbox.weights.begin(), inbox.weights.end());
  return weights;
}

}  // namespace

TrainReport train_client(Client& client, const SampleSource& samples, const RunConfig& config,
                         std::uint64_t round, Workspace& workspace) {
  const auto prompts = client.state.prompts();
  client.previous_prompts.assign(prompts.data(), prompts.data() + prompts.rows() * prompts.cols());
  if (samples.size() == 0) return {};
  const auto before = client.state.values;
  const auto optimizer_before = client.state.optimizer;  // empty where it starts fresh
  const auto summary = local_update(client.adapter, client.state, samples, config.train,
                                    {config.run.seed, client.id, round}, workspace);
  // What is not a number would spread to every neighbour.
  if (!summary.finite) {
    client.state.values = before;
    client.state.optimizer = optimizer_before;
  }
  return {summary.epoch_loss.empty() ? 0 : summary.epoch_loss.back(), summary.images, !summary.finite};
}

void send_state(const Client& client, std::span<const ClientId> neighbours, std::uint64_t round,
                Exchange& exchange) {
  if (neighbours.empty()) return;
  const auto message = std::make_shared<const std::vector<std::byte>>(
      encode_message({.sender = client.id, .moment = {.round = round}}, tensors_of(client.state)));
  for (const ClientId peer : neighbours) exchange.send(peer, message);
}

Inbox receive_states(const Client& client, const MixingMatrix& mixing, std::uint64_t round,
                     Exchange::Deadline deadline, Exchange& exchange) {
  Inbox inbox;
  inbox.self_weight = mixing.self_weight(client.id);
  const auto neighbours = mixing.graph().neighbours(client.id);
  const auto weights = mixing.neighbour_weights(client.id);
  ExpectedMessage expected{.envelope = {.moment = {.round = round}}, .tensors = patterns_of(client)};
  const auto received = exchange.receive(neighbours, deadline);
  for (std::size_t i = 0; i < received.size(); ++i) {
    expected.envelope.sender = received[i].sender;
    if (received[i].arrived()) {
      auto decoded = decode_message(*received[i].message, expected);
      if (auto* message = std::get_if<Message>(&decoded)) {
        inbox.messages.push_back(std::move(*message));
        inbox.weights.push_back(weights[i]);
        continue;
      }
      inbox.refused.push_back(std::get<Refusal>(std::move(decoded)));
    } else {
      ++inbox.missing;
    }
    inbox.self_weight += weights[i];  // rows of the mixing matrix must still sum to one
  }
  return inbox;
}

MergeReport merge_states(Client& client, const Inbox& inbox, const RunConfig& config, std::uint64_t round,
                         bool with_view) {
  if (inbox.messages.empty()) return {};
  const Stopwatch merging;
  const auto own = client.state.prompts();
  const auto senders = part_of_all(client, inbox, kPromptPart);
  const auto weights = sender_weights(inbox, config.merge);
  MergeOptions options = config.merge;
  options.seed = RandomStream(config.run.seed, "merge", client.id, round).next();
  std::vector<float> merged(own.rows() * own.cols());
  const MatrixView<float> result(merged.data(), own.rows(), own.cols());
  const auto summary =
      merge({senders, weights, {client.previous_prompts.data(), own.rows(), own.cols()}}, options, result);
  merge_all_but_prompts(inbox, config.merge, summary, client);
  const double merge_seconds = merging.seconds();

  const Stopwatch measuring;
  MergeReport report{.merged = true,
                     .off_index_mass = summary.off_index_mass,
                     .error = merge_error(senders, weights, result),
                     .dead_prompts = summary.died.size(),
                     .theorem = summary.theorem,
                     .merge_seconds = merge_seconds};
  if (with_view) {
    report.view = view_merge(ids_of_all(client, inbox), senders, result, summary);
    report.view->round = round;
    report.view->kind = config.merge.kind;
  }
  report.measure_seconds = measuring.seconds();
  std::ranges::copy(merged, own.data());  // last: the client's own prompts are among the senders
  return report;
}

}  // namespace dfrost
