#include "train/local_update.h"

#include <algorithm>
#include <cmath>

#include "dfrost/error.h"

namespace dfrost {
namespace {

double take_step(const AdapterOptions& adapter, ClientState& state, const TrainOptions& options,
                 Workspace& workspace) {
  const double loss = differentiate_batch(adapter, state, options.mask, workspace);
  if (options.optimizer.sam_radius > 0) {
    workspace.before_ascent = state.values;
    ascend_adaptively(workspace.gradient, options.optimizer.sam_radius, state.values);
    differentiate_batch(adapter, state, options.mask, workspace);
    state.values.swap(workspace.before_ascent);
  }
  workspace.optimizer.step(workspace.gradient, state.values);
  return loss;
}

void prepare_dropout(const HeadOptions& head, const RandomKey& key, std::size_t step, Workspace& workspace) {
  if (!drops_out(head)) return;
  const std::size_t hidden = head_layers(head, workspace.backbone.geometry()).front().outputs;
  workspace.dropout.resize(workspace.targets.size(), hidden);
  draw_dropout(key, step, head.dropout, workspace.dropout);
}

}  // namespace

void TrainOptions::validate() const {
  optimizer.validate();
  if (batch == 0)
    throw Error(ErrorCode::invalid_argument, "a batch needs at least one image").at("train.batch");
  if (epochs == 0) throw Error(ErrorCode::invalid_argument, "at least one epoch").at("train.epochs");
}

RandomStream data_order(const RandomKey& key) { return {key.seed, "data order", key.client, key.round}; }

LocalUpdateSummary local_update(const AdapterOptions& adapter, ClientState& state, const SampleSource& source,
                                const TrainOptions& options, const RandomKey& key, Workspace& workspace) {
  options.validate();
  require_fit(state, adapter, workspace.backbone.geometry());
  workspace.optimizer.start(options.optimizer, state.values.size());
  RandomStream stream = data_order(key);
  LocalUpdateSummary summary;
  for (std::size_t epoch = 0; epoch < options.epochs; ++epoch) {
    const auto order = stream.permutation(source.size());
    double loss = 0;
    for (std::size_t first = 0; first < order.size(); first += options.batch) {
      const auto samples = std::span(order).subspan(first, std::min(options.batch, order.size() - first));
      load_batch(adapter, source, samples, workspace);
      prepare_dropout(adapter.head, key, summary.steps, workspace);
      loss += take_step(adapter, state, options, workspace) * static_cast<double>(samples.size());
      ++summary.steps;
      summary.images += samples.size();
    }
    summary.epoch_loss.push_back(order.empty() ? 0.0 : loss / static_cast<double>(order.size()));
  }
  summary.finite = std::ranges::all_of(state.values, [](float value) { return std::isfinite(value); });
  return summary;
}

}  // namespace dfrost
