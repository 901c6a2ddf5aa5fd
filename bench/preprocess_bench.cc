// Pictures per second and core, from bytes to the patches of ViT-B/32 (224x224, patches of 32x32).

#include <benchmark/benchmark.h>

#include <vector>

#include "base/random.h"
#include "data/preprocess.h"
#include "data/preprocess_reference.h"

namespace dfrost {
namespace {

constexpr std::size_t kPatch = 32;

Image random_image(std::size_t width, std::size_t height) {
  RandomStream random(1, "picture");
  Image image{width, height, std::vector<std::uint8_t>(width * height * 3)};
  for (auto& byte : image.rgb) byte = static_cast<std::uint8_t>(random.below(256));
  return image;
}

Preprocessing with_filter(const benchmark::State& state) {
  Preprocessing how;
  how.filter = static_cast<ResizeFilter>(state.range(2));
  return how;
}

// One Preprocessor for all pictures, as a data set of one size is read.
void BM_Planned(benchmark::State& state) {
  const Image image = random_image(state.range(0), state.range(1));
  const Preprocessor preprocessor(image.width, image.height, with_filter(state));
  std::vector<float> patches(3 * 224 * 224);
  for (auto _ : state) {
    preprocessor.to_patches(image.rgb.data(), kPatch, patches);
    benchmark::DoNotOptimize(patches.data());
  }
  state.SetItemsProcessed(state.iterations());
}

// Every picture of its own size: the weights are worked out each time.
void BM_Single(benchmark::State& state) {
  const Image image = random_image(state.range(0), state.range(1));
  std::vector<float> patches(3 * 224 * 224);
  for (auto _ : state) {
    preprocess_to_patches(image.view(), with_filter(state), kPatch, patches);
    benchmark::DoNotOptimize(patches.data());
  }
  state.SetItemsProcessed(state.iterations());
}

void BM_Reference(benchmark::State& state) {
  const Image image = random_image(state.range(0), state.range(1));
  for (auto _ : state) benchmark::DoNotOptimize(reference_planes(image.view(), with_filter(state)));
  state.SetItemsProcessed(state.iterations());
}

constexpr auto kBilinear = static_cast<std::int64_t>(ResizeFilter::bilinear);
constexpr auto kBicubic = static_cast<std::int64_t>(ResizeFilter::bicubic);

void pictures(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"width", "height", "filter"});
  for (const auto filter : {kBilinear, kBicubic}) {
    for (const std::int64_t side : {28, 32, 64}) bench->Args({side, side, filter});
    bench->Args({500, 375, filter});
  }
}

BENCHMARK(BM_Planned)->Apply(pictures);
BENCHMARK(BM_Single)->Apply(pictures);
BENCHMARK(BM_Reference)->Args({32, 32, kBilinear});

}  // namespace
}  // namespace dfrost
