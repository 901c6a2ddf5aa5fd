// ConViT, forward and back to the prompts, against a PyTorch module written from its equations.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "backbone/agreement.h"
#include "backbone/checkpoint.h"
#include "backbone/shared_weights.h"
#include "base/safetensors.h"
#include "base/thread_pool.h"
#include "support/amx_emulator.h"
#include "support/support.h"

namespace dfrost {
namespace {

struct Tensor {
  std::vector<float> values;
  std::size_t cols = 0;

  Tensor(const Safetensors& file, const std::string& name)
      : values(read_floats(file.at(name), name)), cols(file.at(name).shape.back()) {}
  Tensor(std::size_t rows, std::size_t columns) : values(rows * columns), cols(columns) {}
  MatrixView<float> view() { return {values.data(), values.size() / cols, cols}; }
};

void expect_near(const char* what, const Tensor& ours, const Tensor& theirs) {
  ASSERT_EQ(ours.values.size(), theirs.values.size());
  float largest = 0;
  for (const float value : theirs.values) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < ours.values.size(); ++i)
    ASSERT_NEAR(ours.values[i], theirs.values[i], 1e-4f * std::max(1.0f, largest)) << what << " " << i;
}

void check_case(const std::filesystem::path& model, const Safetensors& file) {
  const auto checkpoint = open_checkpoint(model);
  EXPECT_EQ(checkpoint->geometry().architecture, "convit");
  const BackboneOptions options{.precision = Precision::fp32};
  const auto backbone = make_backbone(*checkpoint, options);
  const auto& geometry = backbone->geometry();
  Tensor pixels(file, "pixels"), d_features(file, "d_features");
  const std::size_t images = d_features.view().rows(), width = geometry.width;
  const std::size_t count = file.contains("prompts") ? file.at("prompts").shape.front() : 0;
  Tensor patches(images * geometry.patches(), width), features(images, width),
      logits(images, geometry.classes);
  backbone->embed(pixels.view(), patches.view(), nullptr);
  Tensor prompts(count, width), d_prompts(count, width);
  if (count > 0) prompts = Tensor(file, "prompts");
  const Batch batch{images, count, patches.view(), prompts.view()};
  const auto tape = backbone->make_tape();
  ThreadPool threads(2);
  backbone->forward(batch, features.view(), tape.get(), &threads);
  backbone->classify(features.view(), logits.view());
  backbone->backward(d_features.view(), d_prompts.view(), *tape, &threads);
  expect_near("features", features, Tensor(file, "features"));
  expect_near("logits", logits, Tensor(file, "logits"));
  if (count > 0) expect_near("d_prompts", d_prompts, Tensor(file, "d_prompts"));

  Tensor again(images, width);  // one thread, nothing kept
  backbone->forward(batch, again.view(), nullptr, nullptr);
  EXPECT_EQ(again.values, features.values);

  // In bf16 it is the same but for the rounding. The weights are large, scores have a deviation of 4: in
  // PyTorch too, weights and what goes in and out of a product rounded to bf16 leave 0.998 of the gradient.
  const test::Bf16ForTest bf16_here;
  const auto rounded = make_backbone(*checkpoint, {.precision = Precision::bf16});
  const auto rounded_tape = rounded->make_tape();
  Tensor d_again(count, width);
  rounded->embed(pixels.view(), patches.view(), nullptr);
  rounded->forward(batch, again.view(), rounded_tape.get(), &threads);
  rounded->backward(d_features.view(), d_again.view(), *rounded_tape, &threads);
  EXPECT_LT(test::compare(again.values, features.values).relative_error, 2e-2);
  if (count > 0) {
    EXPECT_GT(test::compare(d_again.values, d_prompts.values).cosine, 0.995);
  }

  backbone->embed(pixels.view(), patches.view(), nullptr);
  SharedWeights shared;
  make_backbone(*checkpoint, options, &shared);
  OfferedWeights offered(shared.offer("a model"));
  make_backbone(*checkpoint, options, &offered)->forward(batch, again.view(), nullptr, nullptr);
  EXPECT_EQ(again.values, features.values);
}

TEST(Convit, IsWhatPyTorchMakesOfItsEquations) {
  const test::TemporaryFolder folder;
  test::run_python("backbone/convit_oracle.py", folder.path().string());
  std::ifstream list(folder / "cases.txt");
  std::size_t cases = 0;
  for (std::string model, name; list >> model >> name; ++cases) {
    SCOPED_TRACE(name);
    const SafetensorsFile file(folder / name);
    check_case(folder / model, file.content());
  }
  EXPECT_EQ(cases, 6u);
  const auto checkpoint = open_checkpoint(folder / "tiny.safetensors");
  EXPECT_EQ(checkpoint->own_heads().count, 4u);  // its gates show them
  test::expect_error(ErrorCode::data_loss, "6 attention heads were asked for",
                     [&] { open_checkpoint(folder / "tiny.safetensors", {.heads = 6}); });
}

}  // namespace
}  // namespace dfrost
