#include "run/pool_growth.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "base/stopwatch.h"
#include "dfrost/error.h"
#include "merge/pool_aggregation.h"

namespace dfrost {
namespace {

constexpr std::string_view kPromptsToSend = "prompts to send";  // in the draft

void append_row(std::vector<float>& rows, std::span<const float> row) {
  rows.insert(rows.end(), row.begin(), row.end());
}

// How many of `found` prompts stay.
std::size_t within_limit(std::size_t found, const PoolMergeOptions& options, const Node& node) {
  if (options.limit == 0 || found <= options.limit) return found;
  if (options.overflow == PoolOverflow::drop) return options.limit;
  throw Error(ErrorCode::resource_exhausted,
              fmt::format("the pool of {} {} has grown to {} prompts, beyond merge.pool_limit = {}",
                          node.role == NodeRole::server ? "server" : "client", node.id, found, options.limit),
              "raise merge.pool_limit, or have merge.pool_overflow = \"drop\" cut pools to it");
}

// In their order, those that most senders use; of equal ones the first.
std::vector<std::size_t> most_used(const std::vector<std::size_t>& uses, std::size_t count) {
  std::vector<std::size_t> order(uses.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) { return uses[i]; });
  order.resize(count);
  std::ranges::sort(order);
  return order;
}

void take_pool(Node& node, std::size_t width, const std::vector<float>& prompts) {
  resize_prompts(prompts.size() / width, node.adapter, node.state);
  std::ranges::copy(prompts, node.state.prompts().data());
}

std::size_t aggregate(Node& node, std::span<const MatrixView<const float>> senders,
                      const PoolMergeOptions& options, std::uint64_t seed) {
  const auto pool = aggregate_pools(senders, {.passes = options.passes, .rate = options.rate, .seed = seed});
  const std::size_t found = pool.uses.size(), width = senders.front().cols();
  const std::size_t kept = within_limit(found, options, node);
  std::vector<float> prompts;
  for (const std::size_t i : most_used(pool.uses, kept))
    append_row(prompts, std::span(pool.prompts).subspan(i * width, width));
  take_pool(node, width, prompts);
  return found - kept;
}

// Own prompts are the first prompts.count of a pool. Behind them come, rank by rank, what the neighbours have
// first, their own, then what they have second …, and at last what the client kept from before: newest first,
// since every pool is. What is there already, to the last bit, is not taken twice.
std::size_t line_up(Node& node, std::span<const MatrixView<const float>> senders,
                    const PoolMergeOptions& options) {
  const auto pool = senders.front();
  const std::size_t width = pool.cols(), own = node.adapter.prompts.count;
  std::vector<float> prompts;
  std::set<std::vector<float>> known;
  const auto take = [&](std::span<const float> row) {
    if (known.emplace(row.begin(), row.end()).second) append_row(prompts, row);
  };
  for (std::size_t i = 0; i < own; ++i) {
    append_row(prompts, pool.row(i));  // even where two are equal: pictures need so many
    known.emplace(pool.row(i).begin(), pool.row(i).end());
  }
  std::size_t longest = 0;
  for (const auto& sender : senders.subspan(1)) longest = std::max(longest, sender.rows());
  for (std::size_t rank = 0; rank < longest; ++rank)
    for (const auto& sender : senders.subspan(1))
      if (rank < sender.rows()) take(sender.row(rank));
  for (std::size_t i = own; i < pool.rows(); ++i) take(pool.row(i));
  const std::size_t found = prompts.size() / width, kept = within_limit(found, options, node);
  prompts.resize(kept * width);
  take_pool(node, width, prompts);
  return found - kept;
}

}  // namespace

PromptsInUse::PromptsInUse(Workspace& workspace) : workspace_(workspace) { workspace.pool.used.clear(); }

void PromptsInUse::note(Node& node, PoolMerge kind) const {
  const auto pool = node.state.prompts();
  const auto& used = workspace_.pool.used;
  const bool all = kind != PoolMerge::pfpt || std::ranges::count(used, true) == 0;
  NodeTensor sent{{0, pool.cols()}, {}};
  for (std::size_t i = 0; i < pool.rows(); ++i)
    if (all || (i < used.size() && used[i])) append_row(sent.values, pool.row(i));
  sent.shape.front() = sent.values.size() / pool.cols();
  node.draft.insert_or_assign(std::string(kPromptsToSend), std::move(sent));
}

MatrixView<const float> prompts_to_send(const Node& node) {
  const auto& sent = node.draft.find(kPromptsToSend)->second;
  return {sent.values.data(), sent.shape.front(), sent.shape.back()};
}

MergeOutcome grow_pool(Node& node, std::span<const MatrixView<const float>> senders,
                       const PoolMergeOptions& options, std::uint64_t seed) {
  const Stopwatch merging;
  MergeOutcome outcome;
  outcome.dropped_prompts = options.kind == PoolMerge::pfpt ? aggregate(node, senders, options, seed)
                                                            : line_up(node, senders, options);
  outcome.merge_seconds = merging.seconds();
  return outcome;
}

}  // namespace dfrost
