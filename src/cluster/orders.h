// What the leading rank asks of the others, and what they answer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/packing.h"
#include "dfrost/error.h"
#include "records/savepoint_file.h"
#include "run/node.h"
#include "run/workshop.h"
#include "train/evaluate.h"

namespace dfrost {

enum class OrderKind : std::uint32_t {
  restore,  // take over these states
  prepare,  // what the method does before its first round
  round,    // take your nodes through it
  score,    // these models
  end,      // go home
};

// A model to be scored, whoever's it is.
struct ScoredModel {
  AdapterOptions adapter;
  std::vector<SavedTensor> parts;
  std::vector<float> values;
};
ScoredModel scored_model(const Node& node);
Node node_of(const ScoredModel& model);

struct Order {
  OrderKind kind = OrderKind::end;
  std::uint64_t round = 0;
  SavedNodes nodes = {};                 // restore: in the order of the rank's nodes
  std::vector<ScoredModel> models = {};  // score
};

struct RoundAnswer {
  WorkDone done;     // by the rank's nodes
  SavedNodes nodes;  // as they are now
};

template <typename A>
void pack_fields(A& archive, SavedTensor& tensor) {
  auto& [name, shape] = tensor;
  archive(name, shape);
}
template <typename A>
void pack_fields(A& archive, SavedLayout& layout) {
  auto& [nodes, state, memory] = layout;
  archive(nodes, state, memory);
}
template <typename A>
void pack_fields(A& archive, SavedNodes& saved) {
  auto& [layouts, values, memory, steps, rests, optimizer_values] = saved;
  archive(layouts, values, memory, steps, rests, optimizer_values);
}
template <typename A>
void pack_fields(A& archive, HeadOptions& head) {
  auto& [kind, classes, hidden, dropout] = head;
  archive(kind, classes, hidden, dropout);
}
template <typename A>
void pack_fields(A& archive, AdapterOptions& adapter) {
  auto& [prompts, head] = adapter;
  archive(prompts, head);
}
template <typename A>
void pack_fields(A& archive, ScoredModel& model) {
  auto& [adapter, parts, values] = model;
  archive(adapter, parts, values);
}
template <typename A>
void pack_fields(A& archive, Order& order) {
  auto& [kind, round, nodes, models] = order;
  archive(kind, round, nodes, models);
}
template <typename A>
void pack_fields(A& archive, MergeView::Sender& sender) {
  auto& [client, points] = sender;
  archive(client, points);
}
template <typename A>
void pack_fields(A& archive, MergeView& view) {
  auto& [round, kind, variance, senders, merged, dead, plan] = view;
  archive(round, kind, variance, senders, merged, dead, plan);
}
template <typename A>
void pack_fields(A& archive, DefenceOutcome& defence) {
  auto& [rejected, clipped_prompts, clipped_heads, skipped_heads, softened_mass] = defence;
  archive(rejected, clipped_prompts, clipped_heads, skipped_heads, softened_mass);
}
template <typename A>
void pack_fields(A& archive, MergeOutcome& merge) {
  auto& [merged, off_index, error, dead, dropped, theorem, view, senders, defence, merge_seconds,
         measure_seconds] = merge;
  archive(merged, off_index, error, dead, dropped, theorem, view, senders, defence, merge_seconds,
          measure_seconds);
}
// Who heard whom stays behind: no record of a simulation has it.
template <typename A>
void pack_fields(A& archive, NodeReport& report) {
  auto& [node, train, merge, kernel, refused, missing, exchange_seconds, arrivals] = report;
  (void)arrivals;
  archive(node, train, merge, kernel, refused, missing, exchange_seconds);
}
template <typename A>
void pack_fields(A& archive, RoundOutcome& outcome) {
  auto& [nodes, work_seconds, send_seconds, absorb_seconds] = outcome;
  archive(nodes, work_seconds, send_seconds, absorb_seconds);
}
template <typename A>
void pack_fields(A& archive, WorkDone& done) {
  auto& [outcome, sent_bytes, sent_messages] = done;
  archive(outcome, sent_bytes, sent_messages);
}
template <typename A>
void pack_fields(A& archive, RoundAnswer& answer) {
  auto& [done, nodes] = answer;
  archive(done, nodes);
}
template <typename A>
void pack_fields(A& archive, Evaluation& evaluation) {
  auto& [domains] = evaluation;
  archive(domains);
}

}  // namespace dfrost
