// The share of a training step that is not the frozen backbone's: choosing prompts, head, loss, optimizer and
// copying the batch. One thread, ViT-B/32 with random weights, batch 16, patches kept from before. With SAM
// both passes of a step count. Read the counter `outside_percent`; it is a ratio within one run.
#include <benchmark/benchmark.h>

#include <chrono>
#include <span>
#include <vector>

#include "backbone/random_weights.h"
#include "config/methods.h"
#include "dfrost/backbone.h"
#include "train/local_update.h"

namespace dfrost {
namespace {

using Clock = std::chrono::steady_clock;

// Hands every call on and adds up the time inside forward() and backward().
class TimedBackbone final : public Backbone {
 public:
  explicit TimedBackbone(const Backbone& inner) : inner_(inner) {}

  const Geometry& geometry() const override { return inner_.geometry(); }
  Precision precision() const override { return inner_.precision(); }
  std::size_t weight_bytes() const override { return inner_.weight_bytes(); }
  std::unique_ptr<Tape> make_tape() const override { return inner_.make_tape(); }
  void embed(MatrixView<const float> pixels, MatrixView<float> patches, ThreadPool* threads) const override {
    inner_.embed(pixels, patches, threads);
  }
  void forward(const Batch& batch, MatrixView<float> features, Tape* tape,
               ThreadPool* threads) const override {
    const auto start = Clock::now();
    inner_.forward(batch, features, tape, threads);
    inside_ += Clock::now() - start;
  }
  void backward(MatrixView<const float> d_features, MatrixView<float> d_prompts, Tape& tape,
                ThreadPool* threads) const override {
    const auto start = Clock::now();
    inner_.backward(d_features, d_prompts, tape, threads);
    inside_ += Clock::now() - start;
  }
  void classify(MatrixView<const float> features, MatrixView<float> logits) const override {
    inner_.classify(features, logits);
  }
  void classify_backward(MatrixView<const float> d_logits, MatrixView<float> d_features) const override {
    inner_.classify_backward(d_logits, d_features);
  }

  double seconds_inside() const { return std::chrono::duration<double>(inside_).count(); }

 private:
  const Backbone& inner_;
  mutable Clock::duration inside_{};
};

// Embedded patches of noise: what is in them does not change the work.
class NoiseSamples final : public SampleSource {
 public:
  NoiseSamples(const Geometry& geometry, std::size_t count)
      : count_(count), values_(geometry.patches() * geometry.width) {
    RandomStream stream(1, "noise");
    for (float& value : values_) value = static_cast<float>(stream.normal());
  }
  std::size_t size() const override { return count_; }
  std::size_t label(std::size_t sample) const override { return sample % 10; }
  std::size_t domain(std::size_t) const override { return 0; }
  std::span<const ClassRange> domains() const override { return {&kDomain, 1}; }
  void write_patches(std::size_t, std::span<float> patches) const override { copy(patches); }
  void write_query(std::size_t, std::span<float> query) const override { copy(query); }

 private:
  static constexpr ClassRange kDomain = {0, 10};
  void copy(std::span<float> to) const { std::copy_n(values_.begin(), to.size(), to.begin()); }

  std::size_t count_;
  std::vector<float> values_;
};

const Backbone& backbone() {
  static const auto made = make_backbone(RandomWeights(geometry_of_model("vit-b32"), 1), {});
  return *made;
}

void local_step(benchmark::State& state, const char* method_name, HeadKind head) {
  const auto& method = method_preset(method_name);
  const TimedBackbone timed(backbone());
  const NoiseSamples samples(timed.geometry(), 16);
  const AdapterOptions adapter{.prompts = method.prompts, .head = {.kind = head, .classes = 50}};
  TrainOptions options = method.train;
  options.epochs = 1;
  auto client = make_client_state(adapter, timed.geometry(), 1, 0);
  Workspace workspace(timed);
  local_update(adapter, client, samples, options, {}, workspace);  // allocates what later steps reuse
  const double inside_before = timed.seconds_inside();
  double total = 0;
  for (auto _ : state) {
    const auto start = Clock::now();
    local_update(adapter, client, samples, options, {}, workspace);
    total += std::chrono::duration<double>(Clock::now() - start).count();
  }
  const double inside = timed.seconds_inside() - inside_before;
  state.counters["outside_ms"] = 1e3 * (total - inside) / static_cast<double>(state.iterations());
  state.counters["outside_percent"] = 100 * (total - inside) / total;
}

BENCHMARK_CAPTURE(local_step, dfrost_linear, "dfrost", HeadKind::linear)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(local_step, dfrost_pfpt, "dfrost", HeadKind::pfpt)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(local_step, dfedsam_pfpt, "dfedsam", HeadKind::pfpt)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(local_step, dfrost_pool_pfpt, "dfrost+", HeadKind::pfpt)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace dfrost
