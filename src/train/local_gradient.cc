#include "train/local_gradient.h"

#include <algorithm>
#include <vector>

namespace dfrost {

std::string_view to_string(GradientImages images) { return images == GradientImages::all ? "all" : "batch"; }

GradientSummary local_gradient(const AdapterOptions& adapter, const ClientState& state,
                               const SampleSource& source, const GradientOptions& options,
                               const RandomKey& key, Workspace& workspace, std::span<float> gradient) {
  require_fit(state, adapter, workspace.backbone.geometry());
  auto order = data_order(key).permutation(source.size());
  if (options.images == GradientImages::batch) order.resize(std::min(order.size(), options.batch));
  std::vector<double> sums(gradient.size(), 0.0);
  GradientSummary summary;
  for (std::size_t first = 0, step = 0; first < order.size(); first += options.batch, ++step) {
    const auto samples = std::span(order).subspan(first, std::min(options.batch, order.size() - first));
    if (options.prompts_rest)
      load_features(adapter, state, source, samples, workspace);
    else
      load_batch(adapter, source, samples, workspace);
    draw_batch_dropout(adapter.head, key, step, workspace);
    const double loss = options.prompts_rest ? differentiate_head(adapter, state, options.mask, workspace)
                                             : differentiate_batch(adapter, state, options.mask, workspace);
    const auto weight = static_cast<double>(samples.size());
    for (std::size_t i = 0; i < sums.size(); ++i)
      sums[i] += weight * static_cast<double>(workspace.gradient[i]);
    summary.loss += weight * loss;
    summary.images += samples.size();
  }
  const double count = std::max(1.0, static_cast<double>(summary.images));
  for (std::size_t i = 0; i < sums.size(); ++i) gradient[i] = static_cast<float>(sums[i] / count);
  if (options.prompt_rate != 1) {
    const auto rate = static_cast<float>(options.prompt_rate);
    for (std::size_t i = 0; i < head_offset(state.layout); ++i) gradient[i] *= rate;
  }
  summary.loss /= count;
  return summary;
}

}  // namespace dfrost
