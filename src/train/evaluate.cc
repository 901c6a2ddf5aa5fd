#include "train/evaluate.h"

#include <algorithm>

#include "dfrost/error.h"

namespace dfrost {

Score Evaluation::total() const {
  Score sum;
  for (const auto& domain : domains) {
    sum.samples += domain.samples;
    sum.correct_masked += domain.correct_masked;
    sum.correct_unmasked += domain.correct_unmasked;
    sum.loss_sum += domain.loss_sum;
  }
  return sum;
}

namespace {

// Calls back with each sample and its outcome, batch by batch.
template <typename Use>
void score_samples(const AdapterOptions& adapter, const ClientState& state, const SampleSource& source,
                   std::span<const std::size_t> samples, const EvaluateOptions& options, Workspace& workspace,
                   ThreadPool* threads, const Use& use) {
  if (options.batch == 0)
    throw Error(ErrorCode::invalid_argument, "a batch needs at least one image").at("evaluate.batch");
  require_fit(state, adapter, workspace.backbone.geometry());
  for (std::size_t first = 0; first < samples.size(); first += options.batch) {
    const auto part = samples.subspan(first, std::min(options.batch, samples.size() - first));
    if (adapter.prompts.selects()) {
      load_batch(adapter, source, part, workspace);
      score_batch(adapter, state, options.mask, workspace, threads);
    } else {
      load_features(adapter, state, source, part, workspace, threads);
      score_head(adapter, state, options.mask, workspace);
    }
    for (std::size_t i = 0; i < part.size(); ++i) use(part[i], workspace.outcomes[i]);
  }
}

}  // namespace

Evaluation evaluate(const AdapterOptions& adapter, const ClientState& state, const SampleSource& source,
                    std::span<const std::size_t> samples, const EvaluateOptions& options,
                    Workspace& workspace, ThreadPool* threads) {
  Evaluation result{std::vector<Score>(source.domains().size())};
  score_samples(adapter, state, source, samples, options, workspace, threads,
                [&](std::size_t sample, const Outcome& outcome) {
                  auto& score = result.domains[source.domain(sample)];
                  ++score.samples;
                  score.correct_masked += outcome.correct_masked;
                  score.correct_unmasked += outcome.correct_unmasked;
                  score.loss_sum += outcome.loss;
                });
  return result;
}

std::vector<double> sample_losses(const AdapterOptions& adapter, const ClientState& state,
                                  const SampleSource& source, std::span<const std::size_t> samples,
                                  const EvaluateOptions& options, Workspace& workspace) {
  std::vector<double> losses;
  score_samples(adapter, state, source, samples, options, workspace, nullptr,
                [&](std::size_t, const Outcome& outcome) { losses.push_back(outcome.loss); });
  return losses;
}

}  // namespace dfrost
