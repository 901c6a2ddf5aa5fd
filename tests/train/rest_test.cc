// Prompts that rest, move at a rate of their own or are pulled back: against steps that compute everything.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "train/evaluate.h"
#include "train/feature_cache.h"
#include "train/local_update.h"
#include "train/samples.h"
#include "train/update_methods.h"

namespace dfrost {
namespace {

AdapterOptions resting_adapter(const MethodPreset& method, HeadKind head) {
  AdapterOptions adapter{.prompts = method.prompts, .head = {.kind = head, .classes = 6, .hidden = {16}}};
  adapter.prompts.count = 3;
  adapter.prompts.pool = adapter.prompts.pool == 0 ? 0 : 5;
  adapter.prompts.similarity_weight = adapter.prompts.selects() ? 0.1 : 0;
  return adapter;
}

TrainOptions resting_options(const MethodPreset& method) {
  TrainOptions options = method.train;
  options.batch = 4;
  options.epochs = 3;
  options.optimizer.learning_rate = 0.01;
  return options;
}

// The same update with a forward and a backward pass in every step: while they rest, prompts have a gradient
// that is thrown away.
void update_holding_prompts(const AdapterOptions& adapter, ClientState& state, const SampleSource& source,
                            const TrainOptions& options, const RandomKey& key, Workspace& w) {
  OptimizerState optimizer;
  optimizer.start(options.optimizer, state.values.size());
  PromptStep prompts{.head = head_offset(state.layout), .rate = options.prompt_rate};
  RandomStream stream = data_order(key);
  std::size_t step = 0;
  for (std::size_t epoch = 0; epoch < options.epochs; ++epoch) {
    prompts.rests = epoch >= options.prompt_epochs;
    const auto differentiate = [&] {
      differentiate_batch(adapter, state, options.mask, w);
      if (prompts.rests) std::fill_n(w.gradient.begin(), prompts.head, 0.0f);
    };
    const auto order = stream.permutation(source.size());
    for (std::size_t first = 0; first < order.size(); first += options.batch) {
      load_batch(adapter, source,
                 std::span(order).subspan(first, std::min(options.batch, order.size() - first)), w);
      draw_batch_dropout(adapter.head, key, step++, w);
      differentiate();
      if (options.optimizer.sam_radius > 0) {
        const auto before = state.values;
        ascend_adaptively(w.gradient, options.optimizer.sam_radius, state.values);
        differentiate();
        state.values = before;
      }
      descend(options.optimizer, prompts, w.gradient, optimizer, state.values);
    }
  }
}

TEST(PromptsAtRest, EndWhereComputingEverythingWithPromptsHeldEnds) {
  for (const std::size_t special_tokens : {1, 2}) {
    const auto backbone = test::tiny_backbone(special_tokens);
    const test::MemorySamples samples(*backbone, 11, test::kDomains, 1);
    Workspace workspace(*backbone);
    for (const auto head : {HeadKind::linear, HeadKind::pfpt, HeadKind::mlp}) {
      for (const auto& method : test::update_methods()) {
        for (const auto choice : {PoolChoice::per_input, PoolChoice::per_batch}) {
          auto adapter = resting_adapter(method, head);
          adapter.prompts.choice = choice;
          auto options = resting_options(method);
          for (options.prompt_epochs = 0; options.prompt_epochs < 3; ++options.prompt_epochs) {
            const auto start = make_client_state(adapter, backbone->geometry(), 1, 0);
            auto held = start, rested = start, recomputed = start;
            update_holding_prompts(adapter, held, samples, options, {1, 2, 3}, workspace);
            local_update(adapter, rested, samples, options, {1, 2, 3}, workspace);
            auto without_memory = options;
            without_memory.rest_bytes = 0;
            local_update(adapter, recomputed, samples, without_memory, {1, 2, 3}, workspace);
            EXPECT_EQ(rested.values, held.values) << method.name << " " << to_string(head);
            EXPECT_EQ(recomputed.values, held.values) << method.name << " " << to_string(head);
          }
        }
      }
    }
  }
}

// Counts the pictures that go through it.
class CountingBackbone final : public Backbone {
 public:
  explicit CountingBackbone(const Backbone& counted) : counted_(counted) {}
  const Geometry& geometry() const override { return counted_.geometry(); }
  Precision precision() const override { return counted_.precision(); }
  std::size_t weight_bytes() const override { return counted_.weight_bytes(); }
  std::unique_ptr<Tape> make_tape() const override { return counted_.make_tape(); }
  void embed(MatrixView<const float> pixels, MatrixView<float> patches, ThreadPool* threads) const override {
    counted_.embed(pixels, patches, threads);
  }
  void forward(const Batch& batch, MatrixView<float> features, Tape* tape,
               ThreadPool* threads) const override {
    forwards += batch.images;
    counted_.forward(batch, features, tape, threads);
  }
  void backward(MatrixView<const float> d_features, MatrixView<float> d_prompts, Tape& tape,
                ThreadPool* threads) const override {
    backwards += d_features.rows();
    counted_.backward(d_features, d_prompts, tape, threads);
  }
  void classify(MatrixView<const float> features, MatrixView<float> logits) const override {
    counted_.classify(features, logits);
  }
  void classify_backward(MatrixView<const float> d_logits, MatrixView<float> d_features) const override {
    counted_.classify_backward(d_logits, d_features);
  }

  mutable std::size_t forwards = 0, backwards = 0;

 private:
  const Backbone& counted_;
};

TEST(PromptsAtRest, TakeOneForwardPassForAllTheirEpochs) {
  const auto tiny = test::tiny_backbone();
  const test::MemorySamples samples(*tiny, 11, test::kDomains, 1);
  const auto& method = method_preset("dfrost");
  const auto adapter = resting_adapter(method, HeadKind::linear);
  auto options = resting_options(method);
  options.epochs = 5;
  for (const std::size_t moving : {0, 1, 5}) {
    const CountingBackbone backbone(*tiny);
    Workspace workspace(backbone);
    auto state = make_client_state(adapter, backbone.geometry(), 1, 0);
    const auto before = state;
    options.prompt_epochs = moving;
    const auto summary = local_update(adapter, state, samples, options, {1, 2, 3}, workspace);
    EXPECT_EQ(backbone.forwards, 11 * (moving + (moving < 5 ? 1 : 0)));
    EXPECT_EQ(backbone.backwards, 11 * moving);
    EXPECT_EQ(summary.images, 55u);
    EXPECT_EQ(summary.epoch_loss.size(), 5u);
    const bool moved = !std::ranges::equal(state.prompts().row(0), before.prompts().row(0));
    EXPECT_EQ(moved, moving > 0);
    EXPECT_NE(state.values, before.values);
  }
}

// Keeps features beside what another source has.
class KeepingSamples final : public SampleSource {
 public:
  KeepingSamples(const SampleSource& all, std::size_t values, std::size_t limit_bytes)
      : all_(all), features_(values, limit_bytes) {}
  std::size_t size() const override { return all_.size(); }
  std::size_t label(std::size_t sample) const override { return all_.label(sample); }
  std::size_t domain(std::size_t sample) const override { return all_.domain(sample); }
  std::span<const ClassRange> domains() const override { return all_.domains(); }
  void write_patches(std::size_t sample, std::span<float> patches) const override {
    all_.write_patches(sample, patches);
  }
  void write_query(std::size_t sample, std::span<float> query) const override {
    all_.write_query(sample, query);
  }
  std::span<const float> kept_features(std::size_t sample, std::span<const float> prompts) const override {
    return features_.find(sample, prompts);
  }
  void keep_features(std::size_t sample, std::span<const float> prompts,
                     std::span<const float> features) const override {
    features_.insert(sample, prompts, features);
  }

 private:
  const SampleSource& all_;
  mutable FeatureCache features_;
};

TEST(PromptsAtRest, TakeOneForwardPassForAllRoundsWhereTheyNeverMove) {
  const auto tiny = test::tiny_backbone(2);
  const test::MemorySamples samples(*tiny, 11, test::kDomains, 1);
  const auto& method = method_preset("dfrost");
  const auto adapter = resting_adapter(method, HeadKind::linear);
  auto options = resting_options(method);
  options.prompt_epochs = 0;
  const std::size_t values = 2 * tiny->geometry().width;
  for (const std::size_t rest_bytes : {std::size_t{0}, TrainOptions{}.rest_bytes}) {
    options.rest_bytes = rest_bytes;
    const CountingBackbone backbone(*tiny);
    const KeepingSamples keeping(samples, values, 1 << 20);
    Workspace workspace(backbone);
    auto plain = make_client_state(adapter, tiny->geometry(), 1, 0);
    auto kept = plain;
    for (std::size_t round = 1; round <= 3; ++round) {
      local_update(adapter, plain, samples, options, {1, 2, round}, workspace);
      const auto before = backbone.forwards;
      local_update(adapter, kept, keeping, options, {1, 2, round}, workspace);
      EXPECT_EQ(kept.values, plain.values);
      if (rest_bytes > 0) {
        EXPECT_EQ(backbone.forwards - before, round == 1 ? 11u : 0u);
      }
    }
  }
}

TEST(PromptsAtRest, AreScoredFromFeaturesThatTheSamePromptsGaveAndNoOthers) {
  const auto tiny = test::tiny_backbone();
  const test::MemorySamples samples(*tiny, 11, test::kDomains, 1);
  const CountingBackbone backbone(*tiny);
  Workspace workspace(backbone);
  const auto adapter = resting_adapter(method_preset("dfrost"), HeadKind::linear);
  const std::vector<std::size_t> scored = {0, 3, 4, 7, 9};
  const std::size_t row_bytes = tiny->geometry().width * sizeof(float);
  const auto first = make_client_state(adapter, tiny->geometry(), 1, 0);
  auto other_head = first, other_prompts = first;
  other_head.values.back() += 1;
  other_prompts.values.front() = std::nextafter(other_prompts.values.front(), 1e9f);
  // Room for all, for the prompts and two samples, and for nothing.
  for (const std::size_t limit : {std::size_t{1} << 20, 16 * row_bytes + 512, std::size_t{0}}) {
    const KeepingSamples keeping(samples, tiny->geometry().width, limit);
    for (const ClientState* state :
         std::initializer_list<const ClientState*>{&first, &other_head, &other_prompts, &first}) {
      const auto losses = sample_losses(adapter, *state, samples, scored, {.batch = 2}, workspace);
      const auto before = backbone.forwards;
      EXPECT_EQ(sample_losses(adapter, *state, keeping, scored, {.batch = 2}, workspace), losses);
      if (limit == std::size_t{1} << 20 && state == &other_head) {
        EXPECT_EQ(backbone.forwards, before);
      }
      if (limit == 0 || state == &other_prompts) {
        EXPECT_GT(backbone.forwards, before);
      }
    }
  }
}

TEST(PromptRate, OfOneChangesNoByteAndOfZeroMovesNoPrompt) {
  const auto backbone = test::tiny_backbone();
  const test::MemorySamples samples(*backbone, 11, test::kDomains, 1);
  Workspace workspace(*backbone);
  for (const auto& method : test::update_methods()) {
    const auto adapter = resting_adapter(method, HeadKind::linear);
    auto options = resting_options(method);
    options.prompt_rate = TrainOptions{}.prompt_rate;
    options.prompt_epochs = TrainOptions{}.prompt_epochs;
    const auto start = make_client_state(adapter, backbone->geometry(), 1, 0);
    auto plain = start, one = start, none = start;
    local_update(adapter, plain, samples, options, {1, 2, 3}, workspace);
    options.prompt_rate = 1;
    options.prompt_epochs = 3;
    local_update(adapter, one, samples, options, {1, 2, 3}, workspace);
    EXPECT_EQ(one.values, plain.values) << method.name;
    options.prompt_rate = 0;
    local_update(adapter, none, samples, options, {1, 2, 3}, workspace);
    const auto head = static_cast<std::ptrdiff_t>(head_offset(start.layout));
    EXPECT_TRUE(std::equal(none.values.begin(), none.values.begin() + head, start.values.begin()))
        << method.name;
    EXPECT_FALSE(std::equal(none.values.begin() + head, none.values.end(), start.values.begin() + head));
  }
}

TEST(PromptPull, KeepsPromptsNearerToWhereTheRoundBegan) {
  const auto backbone = test::tiny_backbone();
  const test::MemorySamples samples(*backbone, 11, test::kDomains, 1);
  Workspace workspace(*backbone);
  const auto& method = method_preset("d-psgd");
  const auto adapter = resting_adapter(method, HeadKind::linear);
  auto options = resting_options(method);
  options.optimizer.learning_rate = 0.1;
  options.epochs = 10;
  double last = std::numeric_limits<double>::infinity();
  for (const double pull : {0.0, 0.5, 5.0}) {
    auto state = make_client_state(adapter, backbone->geometry(), 1, 0);
    const auto start = state;
    options.prompt_pull = pull;
    local_update(adapter, state, samples, options, {1, 2, 3}, workspace);
    double way = 0;
    for (std::size_t i = 0; i < head_offset(state.layout); ++i)
      way += static_cast<double>((state.values[i] - start.values[i]) * (state.values[i] - start.values[i]));
    EXPECT_LT(way, 0.8 * last) << pull;
    last = way;
  }
}

}  // namespace
}  // namespace dfrost
