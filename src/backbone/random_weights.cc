#include "backbone/random_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cassert>
#include <cmath>

#include "backbone/architecture.h"
#include "backbone/vit.h"
#include "base/suggest.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

struct Model {
  std::string_view name;
  Geometry geometry;
};

Geometry vit(std::size_t width, std::size_t depth, std::size_t patch) {
  return {.width = width,
          .depth = depth,
          .heads = width / 64,
          .mlp_width = 4 * width,
          .patch_size = patch,
          .image_size = 224,
          .classes = 1000};
}

Geometry convit(std::size_t heads) {
  Geometry geometry = vit(48 * heads, 12, 16);
  geometry.heads = heads;
  geometry.gated_blocks = 10;
  geometry.architecture = "convit";
  return geometry;
}

const std::array kModels = {
    Model{"vit-b32", vit(768, 12, 32)},
    Model{"vit-b16", vit(768, 12, 16)},
    Model{"vit-l16", vit(1024, 24, 16)},
    Model{"vit-s16", vit(384, 12, 16)},
    Model{"deit-tiny", vit(192, 12, 16)},
    Model{"convit-base", convit(16)},
    Model{"convit-small", convit(9)},
    Model{"convit-tiny", convit(4)},
    Model{"tiny",
          {.width = 64,
           .depth = 3,
           .heads = 2,
           .mlp_width = 128,
           .patch_size = 8,
           .image_size = 32,
           .classes = 10}},
};

constexpr double kSmall = 0.02;  // biases, tokens and positions, as ViTs are initialised

}  // namespace

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const auto& model : kModels) names.emplace_back(model.name);
  return names;
}

Geometry geometry_of_model(std::string_view name) {
  for (const auto& model : kModels) {
    if (model.name == name) return model.geometry;
  }
  const auto names = model_names();
  const auto near = nearest(name, names);
  throw Error(ErrorCode::invalid_argument, fmt::format("unknown model '{}'", name),
              near ? fmt::format("did you mean '{}'?", *near)
                   : fmt::format("the models are {}", fmt::join(names, ", ")));
}

std::unique_ptr<WeightSource> random_weights(const Geometry& geometry, Seed seed) {
  return architecture_of(geometry).random_weights(geometry, seed);
}

RandomWeights::RandomWeights(const Geometry& geometry, Seed seed) : geometry_(geometry), seed_(seed) {}

// Uniform rather than normal: bounded as a truncated normal is, and many times faster to draw, which matters
// for the 300 million weights of a ViT-L.
std::vector<float> RandomWeights::draw(std::string_view purpose, std::size_t index, std::size_t count,
                                       double deviation) const {
  RandomStream stream(seed_, purpose, index);
  const double half_width = deviation * std::sqrt(3.0);
  const double step = half_width * 0x1.0p-31;
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; i += 2) {
    const std::uint64_t bits = stream.next();  // two values of 32 bits
    values[i] = static_cast<float>(static_cast<double>(bits >> 32) * step - half_width);
    if (i + 1 < count)
      values[i + 1] = static_cast<float>(static_cast<double>(bits & 0xffffffffu) * step - half_width);
  }
  return values;
}

LinearWeights RandomWeights::linear(std::string_view purpose, std::size_t index, std::size_t outputs,
                                    std::size_t inputs) const {
  // 0.018 at width 768, where ViTs take 0.02; narrower models need more to move their activations as much.
  const double deviation = 0.5 / std::sqrt(static_cast<double>(inputs));
  return {outputs, inputs, draw(purpose, index, outputs * inputs, deviation),
          draw(fmt::format("{} bias", purpose), index, outputs, kSmall)};
}

NormWeights RandomWeights::norm(std::string_view purpose, std::size_t index) const {
  NormWeights norm{draw(fmt::format("{} scale", purpose), index, geometry_.width, 0.1),
                   draw(fmt::format("{} shift", purpose), index, geometry_.width, kSmall)};
  for (float& scale : norm.scale) scale += 1.0f;
  return norm;
}

StemWeights RandomWeights::read_stem() const {
  const auto& g = geometry_;
  return {linear("patch", 0, g.width, g.patch_values()),
          draw("special tokens", 0, g.special_tokens * g.width, kSmall),
          draw("positions", 0, g.patches() * g.width, kSmall)};
}

BlockWeights RandomWeights::read_block(std::size_t index) const {
  assert(index < geometry_.depth);
  const auto& g = geometry_;
  return {norm("norm1", index),
          linear("qkv", index, 3 * g.width, g.width),
          linear("projection", index, g.width, g.width),
          norm("norm2", index),
          linear("fc1", index, g.mlp_width, g.width),
          linear("fc2", index, g.width, g.mlp_width)};
}

NormWeights RandomWeights::read_final_norm() const { return norm("final norm", 0); }

std::vector<LinearWeights> RandomWeights::read_heads() const {
  std::vector<LinearWeights> heads;
  if (geometry_.classes == 0) return heads;
  for (std::size_t i = 0; i < geometry_.special_tokens; ++i)
    heads.push_back(linear("head", i, geometry_.classes, geometry_.width));
  return heads;
}

std::unique_ptr<WeightSource> random_vit_weights(const Geometry& geometry, Seed seed) {
  return std::make_unique<RandomWeights>(geometry, seed);
}

}  // namespace dfrost
