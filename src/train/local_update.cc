#include "train/local_update.h"

#include <algorithm>

#include "base/finite.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

double take_step(const AdapterOptions& adapter, ClientState& state, const TrainOptions& options,
                 OptimizerState& optimizer, Workspace& workspace) {
  const double loss = differentiate_batch(adapter, state, options.mask, workspace);
  if (options.optimizer.sam_radius > 0) {
    workspace.before_ascent = state.values;
    ascend_adaptively(workspace.gradient, options.optimizer.sam_radius, state.values);
    differentiate_batch(adapter, state, options.mask, workspace);
    state.values.swap(workspace.before_ascent);
  }
  descend(options.optimizer, workspace.gradient, optimizer, state.values);
  return loss;
}

// Where nothing is kept all clients of a worker share its memory, one after the other.
OptimizerState& begin_optimizer(const TrainOptions& options, ClientState& state, Workspace& workspace) {
  const bool kept = options.optimizer_state == OptimizerMemory::kept;
  OptimizerState& optimizer = kept ? state.optimizer : workspace.optimizer;
  if (!kept || optimizer.steps == 0) optimizer.start(options.optimizer, state.values.size());
  if (!optimizer.fits(options.optimizer, state.values.size())) {
    throw Error(ErrorCode::failed_precondition,
                "what the client's optimizer remembers is not of this adapter");
  }
  return optimizer;
}

}  // namespace

void TrainOptions::validate() const {
  optimizer.validate();
  if (batch == 0)
    throw Error(ErrorCode::invalid_argument, "a batch needs at least one image").at("train.batch");
  if (epochs == 0) throw Error(ErrorCode::invalid_argument, "at least one epoch").at("train.epochs");
}

LocalUpdateSummary local_update(const AdapterOptions& adapter, ClientState& state, const SampleSource& source,
                                const TrainOptions& options, const RandomKey& key, Workspace& workspace) {
  options.validate();
  require_fit(state, adapter, workspace.backbone.geometry());
  OptimizerState& optimizer = begin_optimizer(options, state, workspace);
  RandomStream stream = data_order(key);
  LocalUpdateSummary summary;
  const auto may_go_on = [&] { return options.max_steps == 0 || summary.steps < options.max_steps; };
  for (std::size_t epoch = 0; epoch < options.epochs && may_go_on(); ++epoch) {
    const auto order = stream.permutation(source.size());
    const std::size_t seen_before = summary.images;
    double loss = 0;
    for (std::size_t first = 0; first < order.size() && may_go_on(); first += options.batch) {
      const auto samples = std::span(order).subspan(first, std::min(options.batch, order.size() - first));
      load_batch(adapter, source, samples, workspace);
      draw_batch_dropout(adapter.head, key, summary.steps, workspace);
      loss += take_step(adapter, state, options, optimizer, workspace) * static_cast<double>(samples.size());
      ++summary.steps;
      summary.images += samples.size();
    }
    const std::size_t seen = summary.images - seen_before;
    summary.epoch_loss.push_back(seen == 0 ? 0.0 : loss / static_cast<double>(seen));
  }
  // A square that overflowed stands still without being seen in the values; kept, it would do so for good.
  summary.finite =
      all_finite(state.values) && all_finite(state.optimizer.first) && all_finite(state.optimizer.second);
  return summary;
}

}  // namespace dfrost
