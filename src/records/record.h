// What is measured of a run, round by round: the values that metrics.jsonl, summary.json, TensorBoard and the
// progress display are all written from. Plain data; spec: what is measured, every round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/evaluation.h"
#include "measure/merge_view.h"
#include "network/graph.h"

namespace dfrost {

// Wall clock, all clients. Where stages go on side by side, their time is split by what each took.
struct StageSeconds {
  double train = 0;
  double exchange = 0;  // encode, send, receive, check
  double merge = 0;     // prompts and all else, without what is measured of it
  double evaluate = 0;
  double measure = 0;  // errors of consensus and merges, mixing factor, views
  double total() const { return train + exchange + merge + evaluate + measure; }
  StageSeconds& operator+=(const StageSeconds& other);
};

// One merge, as the theory sees it; kept only with diagnostics.theory.
struct TheoryRecord {
  std::size_t checked = 0;   // merges
  std::size_t violated = 0;  // in which Theorem 1's bound did not hold
  double largest_ratio = 0;  // min Δ over the bound: below 1 where it holds
};

// Who could talk to whom.
struct RoundGraph {
  std::vector<Edge> links;   // that worked
  std::vector<Edge> failed;  // between clients that took part
  std::vector<ClientId> absent;
};

struct RoundRecord {
  std::size_t round = 0;  // from 1
  // Mean over the clients that trained and did not diverge, of their last epoch; NaN where none did.
  double train_loss = std::numeric_limits<double>::quiet_NaN();
  std::size_t images = 0;                      // seen by all clients in training
  std::size_t diverged_clients = 0;            // whose update was not finite: they keep the state they had
  std::optional<EvaluationRecord> evaluation;  // in rounds that evaluate
  double consensus_error = 0;                  // (1/M) Σ W₂²(μ_u, μ_avg)
  double consensus_error_total = 0;            // Σ, as the paper plots
  // Means over merges, NaN where there was none: W₂² between the neighbourhood and its summary, and the share
  // of mass that left its own index.
  double merge_error = std::numeric_limits<double>::quiet_NaN();
  double off_index_mass = std::numeric_limits<double>::quiet_NaN();
  std::size_t dead_prompts = 0;     // over all merges: merged prompts without mass in some step
  double mixing_factor = 0;         // ρ
  double active_mixing_factor = 0;  // ρ among the clients that took part; absent ones alone make it 1
  std::size_t edges = 0;
  std::size_t failed_edges = 0;
  std::size_t absent_clients = 0;
  std::optional<RoundGraph> graph;  // not of very many clients
  std::uint64_t sent_bytes = 0;
  std::uint64_t sent_messages = 0;
  std::size_t refused_messages = 0;
  std::size_t missing_messages = 0;
  std::optional<TheoryRecord> theory;
  std::vector<MergeView> merge_views;  // of chosen clients, in rounds that evaluate; lines of merges.jsonl
  StageSeconds seconds;
};

// A figure for people, in a format such as "{:.4f}"; "-" where there is none (NaN).
std::string shown(double figure, std::string_view format);

// What adds up over rounds.
struct RunTotals {
  std::size_t rounds = 0;
  StageSeconds seconds;
  std::uint64_t sent_bytes = 0;
  std::uint64_t images = 0;
};

}  // namespace dfrost
