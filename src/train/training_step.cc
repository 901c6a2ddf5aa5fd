#include "train/training_step.h"

#include <algorithm>

namespace dfrost {
namespace {

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

void backward_head(const AdapterOptions& adapter, const ClientState& state, Workspace& w) {
  w.gradient.assign(state.values.size(), 0.0f);
  w.d_features.resize(w.features.rows(), w.features.cols());
  head_backward(adapter.head, w.backbone, state, w.features,
                drops_out(adapter.head) ? std::as_const(w.dropout).view() : MatrixView<const float>(), w.head,
                w.gradient, w.d_features);
}

void backward(const AdapterOptions& adapter, const ClientState& state, Workspace& w) {
  backward_head(adapter, state, w);
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

double differentiate_head(const AdapterOptions& adapter, const ClientState& state, ClassMask mask,
                          Workspace& workspace) {
  const double loss = score_features(adapter, state, mask, true, workspace);
  backward_head(adapter, state, workspace);
  return loss;
}

}  // namespace dfrost
