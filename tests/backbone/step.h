// One forward and backward pass on random pictures, for the tests of the engine.
#pragma once

#include <vector>

#include "backbone/weights.h"
#include "base/random.h"
#include "base/thread_pool.h"
#include "dfrost/backbone.h"

namespace dfrost::test {

inline std::vector<float> random_values(std::size_t count, double deviation, Seed seed, const char* purpose) {
  RandomStream stream(seed, purpose);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(deviation * stream.normal());
  return values;
}

struct StepInput {
  std::size_t images = 0;
  std::size_t prompts = 0;
  bool shared = true;
  std::vector<float> pixels, prompt_values, d_features;

  StepInput(const Geometry& g, std::size_t image_count, std::size_t prompt_count, bool share, Seed seed)
      : images(image_count),
        prompts(prompt_count),
        shared(share),
        pixels(random_values(images * g.patches() * g.patch_values(), 1.0, seed, "pixels")),
        prompt_values(random_values((shared ? 1 : images) * prompts * g.width, 0.5, seed, "prompts")),
        d_features(random_values(images * g.special_tokens * g.width, 1.0, seed, "gradient")) {}
};

struct StepResult {
  std::vector<float> features, d_prompts;
};

inline StepResult run_step(const Backbone& backbone, const StepInput& in, ThreadPool* threads = nullptr) {
  const Geometry& g = backbone.geometry();
  const std::size_t rows = in.images * g.patches(), specials = in.images * g.special_tokens;
  std::vector<float> patches(rows * g.width);
  backbone.embed({in.pixels.data(), rows, g.patch_values()}, {patches.data(), rows, g.width}, threads);
  StepResult result{std::vector<float>(specials * g.width), std::vector<float>(in.prompt_values.size())};
  const std::size_t prompt_rows = in.prompt_values.size() / g.width;
  const Batch batch{in.images,
                    in.prompts,
                    {patches.data(), rows, g.width},
                    {in.prompt_values.data(), prompt_rows, g.width}};
  const auto tape = backbone.make_tape();
  backbone.forward(batch, {result.features.data(), specials, g.width}, tape.get(), threads);
  backbone.backward({in.d_features.data(), specials, g.width},
                    {result.d_prompts.data(), prompt_rows, g.width}, *tape, threads);
  return result;
}

}  // namespace dfrost::test
