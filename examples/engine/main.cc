// A picture through the frozen frost-mini under four prompts, and the gradient of its features back to the
// prompts, held against a finite difference.
#include <cmath>
#include <cstdio>
#include <vector>

#include "dfrost/backbone.h"
#include "dfrost/preprocessing.h"

int main(int count, char** words) {
  if (count != 2) return std::fprintf(stderr, "usage: engine PICTURE\n"), 2;
  const auto backbone = dfrost::load_backbone("frost-mini", {.precision = dfrost::Precision::fp32});
  const dfrost::Geometry& g = backbone->geometry();

  const dfrost::Image picture = dfrost::read_image(words[1]);
  const dfrost::ImageView pictures[] = {picture.view()};
  auto pixels = dfrost::preprocess(pictures, dfrost::load_preprocessing("frost-mini"), g);
  std::vector<float> patches(g.patches() * g.width);
  dfrost::ThreadPool threads;
  backbone->embed({pixels.data(), g.patches(), g.patch_values()}, {patches.data(), g.patches(), g.width},
                  &threads);

  const std::size_t n = 4;
  std::vector<float> prompts(n * g.width), features(g.special_tokens * g.width);
  for (std::size_t i = 0; i < prompts.size(); ++i) prompts[i] = 0.1f * std::sin(static_cast<float>(i));
  const auto tape = backbone->make_tape();
  // The first feature; with it the gradient of the prompts is that of one number.
  const auto first_feature = [&] {
    backbone->forward({.images = 1,
                       .prompts_per_image = n,
                       .patches = {patches.data(), g.patches(), g.width},
                       .prompts = {prompts.data(), n, g.width}},
                      {features.data(), g.special_tokens, g.width}, tape.get(), &threads);
    return static_cast<double>(features[0]);
  };
  std::printf("first feature %g\n", first_feature());

  std::vector<float> d_features(features.size()), gradient(prompts.size());
  d_features[0] = 1;
  backbone->backward({d_features.data(), g.special_tokens, g.width}, {gradient.data(), n, g.width}, *tape,
                     &threads);

  // A step along the gradient changes the feature by the gradient's length squared.
  double squared_length = 0;
  for (const float value : gradient) squared_length += static_cast<double>(value) * value;
  const float step = static_cast<float>(0.01 / std::sqrt(squared_length));
  const auto moved = [&](float by) {
    for (std::size_t i = 0; i < prompts.size(); ++i) prompts[i] += by * gradient[i];
    const double feature = first_feature();
    for (std::size_t i = 0; i < prompts.size(); ++i) prompts[i] -= by * gradient[i];
    return feature;
  };
  const double difference = (moved(step) - moved(-step)) / (2 * static_cast<double>(step));
  const bool agrees = std::abs(difference - squared_length) < 0.01 * squared_length;
  std::printf("slope along the gradient %g, by finite difference %g: %s\n", squared_length, difference,
              agrees ? "they agree" : "they differ");
  return agrees ? 0 : 1;
}
