#include "run/saved_nodes.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "dfrost/error.h"

namespace dfrost {
namespace {

[[noreturn]] void refuse(const std::string& reason) {
  throw Error(ErrorCode::data_loss, "the checkpoint holds " + reason);
}

void append_floats(std::vector<float>& all, std::span<const float> values) {
  all.insert(all.end(), values.begin(), values.end());
}

// The next `count` numbers of `rest`, which it takes off.
std::vector<float> take_floats(std::span<const float>& rest, std::size_t count, const char* what) {
  if (rest.size() < count) refuse(std::string("too few ") + what);
  const auto taken = rest.first(count);
  rest = rest.subspan(count);
  return {taken.begin(), taken.end()};
}

SavedLayout layout_of_node(const Node& node) {
  SavedLayout layout{.nodes = 1, .state = {}, .memory = {}};
  for (const auto& part : node.state.layout.parts()) layout.state.push_back({part.name, part.shape});
  for (const auto& [name, tensor] : node.memory) layout.memory.push_back({name, tensor.shape});
  return layout;
}

std::size_t size_of(const SavedTensor& tensor) {
  const auto size = element_count(tensor.shape);
  if (!size) refuse("a tensor of a size that no memory has");
  return *size;
}

// A layout for every node, where runs of nodes share one.
std::vector<const SavedLayout*> layouts_by_node(const SavedNodes& saved, std::size_t nodes) {
  std::vector<const SavedLayout*> layouts;
  for (const auto& layout : saved.layouts) {
    if (layout.nodes > nodes - layouts.size()) refuse("another number of nodes than this federation has");
    layouts.insert(layouts.end(), layout.nodes, &layout);
  }
  if (layouts.size() != nodes) refuse("another number of nodes than this federation has");
  return layouts;
}

// The node with the number of prompts that the layout says; all else must be as it is.
Node with_layout(Node node, const SavedLayout& layout) {
  for (const auto& [name, shape] : layout.state)
    if (name == kPromptPart && shape.size() == 2 && shape.front() > 0)
      resize_prompts(shape.front(), node.adapter, node.state);
  if (layout_of_node(node).state != layout.state) refuse("other tensors than this federation trains");
  return node;
}

void restore_optimizer(const OptimizerOptions& options, std::uint64_t steps, std::span<const float>& rest,
                       ClientState& state) {
  state.optimizer = {};
  if (steps == 0) return;
  state.optimizer.start(options, state.values.size());
  state.optimizer.steps = steps;
  for (auto* remembered : {&state.optimizer.first, &state.optimizer.second})
    *remembered = take_floats(rest, remembered->size(), "values that its optimizers remember");
}

// Lists that grow as they are filled would take twice the memory of a large federation, and be copied.
void make_room(std::span<const Node> nodes, OptimizerMemory memory, SavedNodes& all) {
  std::size_t values = 0, remembered = 0, optimizers = 0;
  for (const auto& node : nodes) {
    values += node.state.values.size();
    for (const auto& [name, tensor] : node.memory) remembered += tensor.values.size();
    optimizers += node.state.optimizer.first.size() + node.state.optimizer.second.size();
  }
  all.values.reserve(values);
  all.memory.reserve(remembered);
  if (memory == OptimizerMemory::kept) all.optimizer_values.reserve(optimizers);
}

}  // namespace

SavedNodes save_nodes(std::span<const Node> nodes, OptimizerMemory memory) {
  SavedNodes all;
  make_room(nodes, memory, all);
  for (const auto& node : nodes) {
    auto layout = layout_of_node(node);
    if (!all.layouts.empty()) layout.nodes = all.layouts.back().nodes;  // to compare all else
    if (!all.layouts.empty() && layout == all.layouts.back()) {
      ++all.layouts.back().nodes;
    } else {
      layout.nodes = 1;
      all.layouts.push_back(std::move(layout));
    }
    append_floats(all.values, node.state.values);
    for (const auto& [name, tensor] : node.memory) append_floats(all.memory, tensor.values);
    if (memory == OptimizerMemory::fresh) continue;
    all.optimizer_steps.push_back(node.state.optimizer.steps);
    all.optimizer_rests.push_back(node.state.optimizer.rested);
    append_floats(all.optimizer_values, node.state.optimizer.first);
    append_floats(all.optimizer_values, node.state.optimizer.second);
  }
  if (std::ranges::all_of(all.optimizer_rests, [](std::uint64_t rests) { return rests == 0; }))
    all.optimizer_rests.clear();
  return all;
}

void restore_nodes(const SavedNodes& saved, const TrainOptions& options, std::span<Node> nodes) {
  const bool kept = options.optimizer_state == OptimizerMemory::kept;
  if (saved.optimizer_steps.size() != (kept ? nodes.size() : 0))
    refuse("another number of optimizers than train.optimizer_state keeps");
  if (!saved.optimizer_rests.empty() && saved.optimizer_rests.size() != saved.optimizer_steps.size())
    refuse("another number of optimizers that rested than of optimizers");
  const auto layouts = layouts_by_node(saved, nodes.size());
  std::span<const float> values = saved.values, memory = saved.memory, remembered = saved.optimizer_values;
  std::vector<Node> restored;
  for (std::size_t u = 0; u < nodes.size(); ++u) {
    Node node = with_layout(nodes[u], *layouts[u]);
    node.state.values = take_floats(values, node.state.values.size(), "values that this federation trains");
    node.memory.clear();
    for (const auto& tensor : layouts[u]->memory)
      node.memory[tensor.name] = {tensor.shape,
                                  take_floats(memory, size_of(tensor), "values that nodes remember")};
    restore_optimizer(options.optimizer, kept ? saved.optimizer_steps[u] : 0, remembered, node.state);
    if (!saved.optimizer_rests.empty()) node.state.optimizer.rested = saved.optimizer_rests[u];
    restored.push_back(std::move(node));
  }
  if (!values.empty() || !memory.empty() || !remembered.empty())
    refuse("more values than this federation has");
  std::ranges::move(restored, nodes.begin());
}

}  // namespace dfrost
