#include "run/privacy_benchmark.h"

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "base/stopwatch.h"
#include "dfrost/error.h"
#include "train/local_update.h"

namespace dfrost {
namespace {

// Patches of pictures that nobody drew.
class RandomSamples final : public SampleSource {
 public:
  RandomSamples(const Geometry& geometry, const PrivacyBenchmarkOptions& options)
      : size_(options.batch), range_{0, options.classes} {
    RandomStream stream(1, "bench privacy");
    patches_.resize(geometry.patches() * geometry.width * size_);
    for (float& value : patches_) value = static_cast<float>(stream.normal());
  }

  std::size_t size() const override { return size_; }
  std::size_t label(std::size_t sample) const override { return sample % range_.count; }
  std::size_t domain(std::size_t) const override { return 0; }
  std::span<const ClassRange> domains() const override { return {&range_, 1}; }
  void write_patches(std::size_t sample, std::span<float> patches) const override {
    std::copy_n(patches_.begin() + static_cast<std::ptrdiff_t>(sample * patches.size()), patches.size(),
                patches.begin());
  }
  void write_query(std::size_t, std::span<float> query) const override {
    std::ranges::fill(query, 0.0f);  // nothing chooses
  }

 private:
  std::size_t size_;
  ClassRange range_;
  std::vector<float> patches_;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

void PrivacyBenchmarkOptions::validate() const {
  const auto check = [](bool good, const char* message) {
    if (!good) throw Error(ErrorCode::invalid_argument, message);
  };
  check(batch >= 1 && batch <= 4096, "batch must be between 1 and 4096");
  check(prompts >= 1 && prompts <= 4096, "prompts must be between 1 and 4096");
  check(classes >= 1 && classes <= 65'536, "classes must be between 1 and 65536");
  check(seconds > 0 && seconds <= 600, "seconds must be above 0 and at most 600");
}

PrivacyBenchmark benchmark_privacy(const Backbone& backbone, const PrivacyBenchmarkOptions& options) {
  options.validate();
  const RandomSamples samples(backbone.geometry(), options);
  const AdapterOptions adapter{.prompts = {.count = options.prompts}, .head = {.classes = options.classes}};
  auto state = make_client_state(adapter, backbone.geometry(), 1, 0);
  Workspace workspace(backbone);
  TrainOptions plain{.batch = options.batch, .epochs = 1};  // a client with one batch of pictures: one step
  TrainOptions secret = plain;
  secret.pictures = {.clip = 1, .noise = 1, .origin = NoiseOrigin::system};
  const auto step = [&](const TrainOptions& train) {
    const Stopwatch watch;
    local_update(adapter, state, samples, train, {1, 0, 1}, workspace);
    return watch.seconds();
  };
  for (int i = 0; i < 2; ++i) {  // first touches of memory
    step(plain);
    step(secret);
  }
  std::vector<double> plains, secrets, ratios;
  const Stopwatch all;
  while (ratios.empty() || all.seconds() < options.seconds) {
    plains.push_back(step(plain));
    secrets.push_back(step(secret));
    ratios.push_back(secrets.back() / plains.back());
  }
  return {ratios.size(), median(plains), median(secrets), median(ratios)};
}

}  // namespace dfrost
