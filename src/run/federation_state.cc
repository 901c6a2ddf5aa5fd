#include "run/federation_state.h"

#include <algorithm>

#include "dfrost/error.h"

namespace dfrost {
namespace {

void append_floats(std::vector<float>& all, std::span<const float> values) {
  all.insert(all.end(), values.begin(), values.end());
}

// Fills `values` from the front of `rest`, and takes that off.
void take_floats(std::span<const float>& rest, std::span<float> values) {
  std::ranges::copy(rest.first(values.size()), values.begin());
  rest = rest.subspan(values.size());
}

void require_same_size(std::size_t found, std::size_t expected, const char* what) {
  if (found != expected)
    throw Error(ErrorCode::data_loss, std::string("the checkpoint holds another number of ") + what);
}

void require_state_of(const FederationState& state, const TrainOptions& options,
                      std::span<const Client> clients) {
  const bool kept = options.optimizer_state == OptimizerMemory::kept;
  require_same_size(state.optimizer_steps.size(), kept ? clients.size() : 0,
                    "optimizers than train.optimizer_state keeps");
  std::size_t values = 0, remembered = 0;
  for (std::size_t u = 0; u < clients.size(); ++u) {
    const std::size_t size = clients[u].state.values.size();
    values += size;
    if (kept && state.optimizer_steps[u] > 0) remembered += size * remembered_vectors(options.optimizer);
  }
  require_same_size(state.values.size(), values, "values than this federation trains");
  require_same_size(state.optimizer_values.size(), remembered, "values than its optimizers remember");
}

}  // namespace

FederationState gather_state(std::span<const Client> clients, OptimizerMemory memory) {
  FederationState all;
  for (const auto& client : clients) {
    append_floats(all.values, client.state.values);
    if (memory == OptimizerMemory::fresh) continue;
    const auto& optimizer = client.state.optimizer;
    all.optimizer_steps.push_back(optimizer.steps);
    append_floats(all.optimizer_values, optimizer.first);
    append_floats(all.optimizer_values, optimizer.second);
  }
  return all;
}

void scatter_state(const FederationState& state, const TrainOptions& options, std::span<Client> clients) {
  require_state_of(state, options, clients);
  std::span<const float> values = state.values, remembered = state.optimizer_values;
  for (std::size_t u = 0; u < clients.size(); ++u) {
    auto& own = clients[u].state;
    take_floats(values, own.values);
    own.optimizer = {};
    if (state.optimizer_steps.empty() || state.optimizer_steps[u] == 0) continue;
    own.optimizer.start(options.optimizer, own.values.size());
    own.optimizer.steps = state.optimizer_steps[u];
    take_floats(remembered, own.optimizer.first);
    take_floats(remembered, own.optimizer.second);
  }
}

}  // namespace dfrost
