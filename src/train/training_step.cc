#include "train/training_step.h"

#include <algorithm>
#include <cmath>

#include "kernels/vector_ops.h"

namespace dfrost {
namespace {

// The prompts that all images share, once for each.
void give_each_its_own(MatrixView<const float> shared, std::size_t images, Matrix<float>& own) {
  own.resize(images * shared.rows(), shared.cols());
  for (std::size_t i = 0; i < images; ++i)
    std::copy_n(shared.data(), shared.rows() * shared.cols(), own.data() + i * shared.rows() * shared.cols());
}

void run_backbone(const AdapterOptions& adapter, const ClientState& state, Backbone::Tape* tape, Workspace& w,
                  ThreadPool* threads) {
  const auto& geometry = w.backbone.geometry();
  const std::size_t images = w.targets.size();
  const bool selects = adapter.prompts.selects();
  if (selects) choose_prompts(adapter.prompts, state, w.queries, w.pool);
  const Batch batch{images, selects ? adapter.prompts.count : state.prompts().rows(), w.patches,
                    selects ? std::as_const(w.pool.prompts).view() : state.prompts()};
  w.features.resize(images * geometry.special_tokens, geometry.width);
  w.backbone.forward(batch, w.features, tape, threads);
}

std::span<const float> all_prompts(const ClientState& state) {
  return {state.prompts().data(), state.prompts().rows() * state.prompts().cols()};
}

// A sample's features in the workspace: one row for each special token.
std::span<float> features_of_image(std::size_t image, Workspace& w) {
  const std::size_t values = w.backbone.geometry().special_tokens * w.features.cols();
  return {w.features.data() + image * values, values};
}

// Whether those of all samples were kept.
bool copy_kept_features(const ClientState& state, const SampleSource& source,
                        std::span<const std::size_t> samples, Workspace& w) {
  const auto& geometry = w.backbone.geometry();
  w.features.resize(samples.size() * geometry.special_tokens, geometry.width);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto kept = source.kept_features(samples[i], all_prompts(state));
    if (kept.empty()) return false;
    std::ranges::copy(kept, features_of_image(i, w).begin());
  }
  return true;
}

void keep_features(const ClientState& state, const SampleSource& source, std::span<const std::size_t> samples,
                   Workspace& w) {
  for (std::size_t i = 0; i < samples.size(); ++i)
    source.keep_features(samples[i], all_prompts(state), features_of_image(i, w));
}

// The mean loss of the features in the workspace.
double score_features(const AdapterOptions& adapter, const ClientState& state, ClassMask mask, bool training,
                      Workspace& w) {
  const std::size_t images = w.targets.size();
  const bool drops = training && drops_out(adapter.head);
  head_forward(adapter.head, w.backbone, state, w.features,
               drops ? std::as_const(w.dropout).view() : MatrixView<const float>(), w.head);
  w.outcomes.resize(images);
  if (training) w.head.d_logits.resize(images, adapter.head.classes);
  cross_entropy(w.head.logits, w.targets, mask, w.outcomes,
                training ? w.head.d_logits.view() : MatrixView<float>());
  double sum = 0;
  for (const auto& outcome : w.outcomes) sum += outcome.loss;
  return sum / static_cast<double>(images);
}

double forward(const AdapterOptions& adapter, const ClientState& state, ClassMask mask, bool training,
               Workspace& w, ThreadPool* threads) {
  run_backbone(adapter, state, training ? w.tape.get() : nullptr, w, threads);
  const double loss = score_features(adapter, state, mask, training, w);
  return loss + (adapter.prompts.selects() ? similarity_term(adapter.prompts, w.pool) : 0.0);
}

MatrixView<const float> dropout_of(const AdapterOptions& adapter, const Workspace& w) {
  return drops_out(adapter.head) ? w.dropout.view() : MatrixView<const float>();
}

void backward_head(const AdapterOptions& adapter, const ClientState& state, Workspace& w) {
  w.gradient.assign(state.values.size(), 0.0f);
  w.d_features.resize(w.features.rows(), w.features.cols());
  head_backward(adapter.head, w.backbone, state, w.features, dropout_of(adapter, w), w.head, w.gradient,
                w.d_features);
}

// From the loss of each image, instead of their mean, to d_features and the head's share of the norms.
void backward_head_of_each(const AdapterOptions& adapter, const ClientState& state, Workspace& w) {
  const std::size_t images = w.targets.size();
  w.gradient.assign(state.values.size(), 0.0f);
  w.d_features.resize(w.features.rows(), w.features.cols());
  for (std::size_t r = 0; r < images; ++r)
    for (float& d : w.head.d_logits.row(r)) d *= static_cast<float>(images);
  head_backward_features(adapter.head, w.backbone, state, dropout_of(adapter, w), w.head, w.d_features);
  w.gradient_norms.assign(images, 0.0);
  add_head_gradient_squares(adapter.head, w.backbone, w.features, w.head, w.gradient_norms);
}

// From squared norms to norms, and to the head's gradient of all images, each weighing as little as it must.
std::vector<float> clip_head(const AdapterOptions& adapter, const ClientState& state, double clip,
                             Workspace& w) {
  const std::size_t tokens = w.backbone.geometry().special_tokens;
  std::vector<float> weights;
  for (double& norm : w.gradient_norms) {
    norm = std::sqrt(norm);
    if (!std::isfinite(norm))
      for (std::size_t t = 0; t < tokens; ++t)
        std::ranges::fill(w.features.row(weights.size() * tokens + t), 0.0f);
    weights.push_back(!std::isfinite(norm) ? 0.0f : static_cast<float>(std::min(1.0, clip / norm)));
  }
  weigh_images(weights, w.head);
  head_gradient(adapter.head, w.backbone, state.layout, w.features, w.head, w.gradient);
  return weights;
}

void backward(const AdapterOptions& adapter, const ClientState& state, Workspace& w) {
  backward_head(adapter, state, w);
  if (adapter.prompts.held() == 0) return;
  if (!adapter.prompts.selects())
    return w.backbone.backward(w.d_features, part_of(state.layout, std::span(w.gradient), kPromptPart),
                               *w.tape, nullptr);
  w.d_prompts.resize(w.pool.prompts.rows(), w.pool.prompts.cols());
  w.backbone.backward(w.d_features, w.d_prompts, *w.tape, nullptr);
  choose_prompts_backward(adapter.prompts, state, w.queries, w.d_prompts, w.pool, w.gradient);
}

}  // namespace

void load_batch(const AdapterOptions& adapter, const SampleSource& source,
                std::span<const std::size_t> samples, Workspace& w) {
  const auto& geometry = w.backbone.geometry();
  const std::size_t values = geometry.patches() * geometry.width;
  w.patches.resize(samples.size() * geometry.patches(), geometry.width);
  load_targets(source, samples, w);
  if (adapter.prompts.selects()) w.queries.resize(samples.size(), geometry.width);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    source.write_patches(samples[i], {w.patches.data() + i * values, values});
    if (adapter.prompts.selects()) source.write_query(samples[i], w.queries.row(i));
  }
}

void load_targets(const SampleSource& source, std::span<const std::size_t> samples, Workspace& w) {
  w.targets.resize(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i)
    w.targets[i] = {source.label(samples[i]), source.domains()[source.domain(samples[i])]};
}

RandomStream data_order(const RandomKey& key) { return {key.seed, "data order", key.client, key.round}; }

void draw_batch_dropout(const HeadOptions& head, const RandomKey& key, std::size_t step,
                        Workspace& workspace) {
  if (!drops_out(head)) return;
  const std::size_t hidden = head_layers(head, workspace.backbone.geometry()).front().outputs;
  workspace.dropout.resize(workspace.targets.size(), hidden);
  draw_dropout(key, step, head.dropout, workspace.dropout);
}

double score_batch(const AdapterOptions& adapter, const ClientState& state, ClassMask mask,
                   Workspace& workspace, ThreadPool* threads) {
  return forward(adapter, state, mask, false, workspace, threads);
}

double differentiate_batch(const AdapterOptions& adapter, const ClientState& state, ClassMask mask,
                           Workspace& workspace) {
  if (workspace.tape == nullptr) workspace.tape = workspace.backbone.make_tape();
  const double loss = forward(adapter, state, mask, true, workspace, nullptr);
  backward(adapter, state, workspace);
  return loss;
}

void compute_features(const AdapterOptions& adapter, const ClientState& state, Workspace& workspace,
                      ThreadPool* threads) {
  run_backbone(adapter, state, nullptr, workspace, threads);
}

void load_features(const AdapterOptions& adapter, const ClientState& state, const SampleSource& source,
                   std::span<const std::size_t> samples, Workspace& workspace, ThreadPool* threads) {
  const bool may_be_kept = !adapter.prompts.selects();
  if (may_be_kept && copy_kept_features(state, source, samples, workspace))
    return load_targets(source, samples, workspace);
  load_batch(adapter, source, samples, workspace);
  compute_features(adapter, state, workspace, threads);
  if (may_be_kept) keep_features(state, source, samples, workspace);
}

double score_head(const AdapterOptions& adapter, const ClientState& state, ClassMask mask,
                  Workspace& workspace) {
  return score_features(adapter, state, mask, false, workspace);
}

double differentiate_head(const AdapterOptions& adapter, const ClientState& state, ClassMask mask,
                          Workspace& workspace) {
  const double loss = score_features(adapter, state, mask, true, workspace);
  backward_head(adapter, state, workspace);
  return loss;
}

double differentiate_clipped(const AdapterOptions& adapter, const ClientState& state, ClassMask mask,
                             double clip, Workspace& w) {
  const std::size_t images = w.targets.size(), prompts = state.prompts().rows();
  if (w.tape == nullptr) w.tape = w.backbone.make_tape();
  give_each_its_own(state.prompts(), images, w.own_prompts);
  w.features.resize(images * w.backbone.geometry().special_tokens, w.backbone.geometry().width);
  w.backbone.forward({images, prompts, w.patches, w.own_prompts}, w.features, w.tape.get(), nullptr);
  const double loss = score_features(adapter, state, mask, true, w);
  backward_head_of_each(adapter, state, w);
  w.d_prompts.resize(w.own_prompts.rows(), w.own_prompts.cols());
  w.backbone.backward(w.d_features, w.d_prompts, *w.tape, nullptr);
  const std::size_t size = prompts * w.d_prompts.cols();
  const auto own = [&](std::size_t image) {
    return std::span<const float>(w.d_prompts.data() + image * size, size);
  };
  for (std::size_t i = 0; i < images; ++i)
    for (const float d : own(i)) w.gradient_norms[i] += static_cast<double>(d) * static_cast<double>(d);
  const auto weights = clip_head(adapter, state, clip, w);
  const auto sum = std::span(w.gradient).subspan(state.layout.at(kPromptPart).offset, size);
  for (std::size_t i = 0; i < images; ++i)
    if (weights[i] != 0) add_scaled(weights[i], own(i), sum);
  return loss;
}

double differentiate_head_clipped(const AdapterOptions& adapter, const ClientState& state, ClassMask mask,
                                  double clip, Workspace& w) {
  const double loss = score_features(adapter, state, mask, true, w);
  backward_head_of_each(adapter, state, w);
  clip_head(adapter, state, clip, w);
  return loss;
}

}  // namespace dfrost
