#include "train/local_update.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/finite.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

// One client's steps.
class Stepper {
 public:
  Stepper(const AdapterOptions& adapter, ClientState& state, const SampleSource& source,
          const TrainOptions& options, OptimizerState& optimizer, PrivateBatches* secret,
          Workspace& workspace)
      : adapter_(adapter),
        state_(state),
        source_(source),
        options_(options),
        optimizer_(optimizer),
        secret_(secret),
        w_(workspace),
        prompts_{.head = head_offset(state.layout), .rate = options.prompt_rate} {
    if (options.prompt_pull > 0)
      start_.assign(state.values.begin(), state.values.begin() + static_cast<std::ptrdiff_t>(prompts_.head));
  }

  // From here on only the head moves.
  void rest() {
    if (prompts_.rests) return;
    prompts_.rests = true;
    const auto& geometry = w_.backbone.geometry();
    const std::size_t rows = source_.size() * geometry.special_tokens;
    // Where a batch votes for its prompts, features depend on who is in it.
    const bool votes = adapter_.prompts.selects() && adapter_.prompts.choice == PoolChoice::per_batch;
    keeps_features_ = !votes && rows * geometry.width * sizeof(float) <= options_.rest_bytes;
    if (keeps_features_) keep_features(rows);
  }

  void load(std::span<const std::size_t> samples) {
    if (samples.empty()) return w_.targets.clear();
    if (!prompts_.rests || !keeps_features_) {
      return prompts_.rests ? load_features(adapter_, state_, source_, samples, w_)
                            : load_batch(adapter_, source_, samples, w_);
    }
    const std::size_t tokens = w_.backbone.geometry().special_tokens, width = w_.backbone.geometry().width;
    load_targets(source_, samples, w_);
    w_.features.resize(samples.size() * tokens, width);
    for (std::size_t i = 0; i < samples.size(); ++i)
      std::copy_n(w_.rest_features.data() + samples[i] * tokens * width, tokens * width,
                  w_.features.data() + i * tokens * width);
  }

  // Returns the loss of the loaded batch before the step.
  double take() {
    const double loss = differentiate();
    if (options_.optimizer.sam_radius > 0) {
      w_.before_ascent = state_.values;
      ascend_adaptively(w_.gradient, options_.optimizer.sam_radius, state_.values);
      differentiate();
      state_.values.swap(w_.before_ascent);
    }
    descend(options_.optimizer, prompts_, w_.gradient, optimizer_, state_.values);
    return loss;
  }

 private:
  double differentiate() {
    if (secret_ == nullptr && prompts_.rests) return differentiate_head(adapter_, state_, options_.mask, w_);
    const double loss = secret_ != nullptr ? differentiate_privately()
                                           : differentiate_batch(adapter_, state_, options_.mask, w_);
    if (prompts_.rests) return loss;
    const auto pull = static_cast<float>(options_.prompt_pull);
    for (std::size_t i = 0; i < start_.size(); ++i) w_.gradient[i] += pull * (state_.values[i] - start_[i]);
    return loss;
  }

  // A batch of no pictures has the gradient of one, noise: who sees the step cannot tell.
  double differentiate_privately() {
    const double clip = secret_->options().clip;
    double loss = 0;
    if (w_.targets.empty())
      w_.gradient.assign(state_.values.size(), 0.0f);
    else if (prompts_.rests)
      loss = differentiate_head_clipped(adapter_, state_, options_.mask, clip, w_);
    else
      loss = differentiate_clipped(adapter_, state_, options_.mask, clip, w_);
    secret_->add_noise(w_.gradient);
    return loss;
  }

  void keep_features(std::size_t rows) {
    const std::size_t row_values = w_.backbone.geometry().width;
    std::vector<std::size_t> all(source_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    w_.rest_features.resize(rows, row_values);
    float* next = w_.rest_features.data();
    for (std::size_t first = 0; first < all.size(); first += options_.batch) {
      load_features(adapter_, state_, source_,
                    std::span(all).subspan(first, std::min(options_.batch, all.size() - first)), w_);
      next = std::copy_n(w_.features.data(), w_.features.rows() * row_values, next);
    }
  }

  const AdapterOptions& adapter_;
  ClientState& state_;
  const SampleSource& source_;
  const TrainOptions& options_;
  OptimizerState& optimizer_;
  PrivateBatches* secret_;  // null: nothing is protected
  Workspace& w_;
  PromptStep prompts_;
  std::vector<float> start_;  // what prompts are pulled to
  bool keeps_features_ = false;
};

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
  if (!(prompt_rate >= 0) || !std::isfinite(prompt_rate))
    throw Error(ErrorCode::invalid_argument, "a rate is not negative").at("train.prompt_rate");
  if (!(prompt_pull >= 0) || !std::isfinite(prompt_pull))
    throw Error(ErrorCode::invalid_argument, "a pull is not negative").at("train.prompt_pull");
  if (pictures.active() && optimizer.sam_radius > 0)
    throw Error(ErrorCode::invalid_argument,
                "SAM's ascent follows a gradient that nothing protects, and its step would tell of it")
        .at("train.sam_radius");
}

LocalUpdateSummary local_update(const AdapterOptions& adapter, ClientState& state, const SampleSource& source,
                                const TrainOptions& options, const RandomKey& key, Workspace& workspace) {
  options.validate();
  require_fit(state, adapter, workspace.backbone.geometry());
  OptimizerState& optimizer = begin_optimizer(options, state, workspace);
  std::optional<PrivateBatches> secret;
  if (options.pictures.active()) secret.emplace(options.pictures, options.batch, source.size(), key);
  Stepper stepper(adapter, state, source, options, optimizer, secret ? &*secret : nullptr, workspace);
  RandomStream stream = data_order(key);
  LocalUpdateSummary summary;
  const auto may_go_on = [&] { return options.max_steps == 0 || summary.steps < options.max_steps; };
  for (std::size_t epoch = 0; epoch < options.epochs && may_go_on(); ++epoch) {
    const auto order = stream.permutation(source.size());
    if (epoch >= options.prompt_epochs || adapter.prompts.held() == 0) stepper.rest();
    const std::size_t seen_before = summary.images;
    double loss = 0;
    for (std::size_t first = 0; first < order.size() && may_go_on(); first += options.batch) {
      const auto drawn = secret ? secret->draw() : std::vector<std::size_t>();
      const auto samples =
          secret ? std::span(drawn)
                 : std::span(order).subspan(first, std::min(options.batch, order.size() - first));
      stepper.load(samples);
      draw_batch_dropout(adapter.head, secret ? secret->key() : key, summary.steps, workspace);
      loss += stepper.take() * static_cast<double>(samples.size());
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
