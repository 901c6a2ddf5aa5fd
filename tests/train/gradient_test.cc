#include <gtest/gtest.h>

#include <cmath>

#include "train/local_update.h"
#include "train/samples.h"

namespace dfrost {
namespace {

struct GradientCase {
  const char* name;
  AdapterOptions adapter;
  ClassMask mask = ClassMask::domain;
  std::size_t special_tokens = 1;
};

HeadOptions head(HeadKind kind) { return {.kind = kind, .classes = 6, .hidden = {20, 12}}; }

PromptOptions pool(PoolKeys keys, PoolChoice choice, double weight) {
  return {.count = 3, .pool = 5, .keys = keys, .choice = choice, .similarity_weight = weight};
}

const GradientCase kCases[] = {
    {"LinearHead", {.prompts = {.count = 3}, .head = head(HeadKind::linear)}},
    {"LinearHeadUnmasked", {.prompts = {.count = 3}, .head = head(HeadKind::linear)}, ClassMask::none},
    {"LinearHeadDistilled", {.prompts = {.count = 3}, .head = head(HeadKind::linear)}, ClassMask::domain, 2},
    {"PfptHead", {.prompts = {.count = 3}, .head = head(HeadKind::pfpt)}},
    {"PfptHeadDistilled", {.prompts = {.count = 3}, .head = head(HeadKind::pfpt)}, ClassMask::domain, 2},
    {"MlpHead", {.prompts = {.count = 3}, .head = head(HeadKind::mlp)}},
    {"Pool", {.prompts = pool(PoolKeys::prompts, PoolChoice::per_input, 0), .head = head(HeadKind::linear)}},
    {"PoolSimilarity",
     {.prompts = pool(PoolKeys::prompts, PoolChoice::per_input, 0.5), .head = head(HeadKind::linear)}},
    {"PoolSeparateKeys",
     {.prompts = pool(PoolKeys::separate, PoolChoice::per_input, -0.5), .head = head(HeadKind::mlp)}},
    {"PoolVote",
     {.prompts = pool(PoolKeys::separate, PoolChoice::per_batch, -0.5), .head = head(HeadKind::linear)}},
};

void PrintTo(const GradientCase& c, std::ostream* out) { *out << c.name; }

class Gradient : public testing::TestWithParam<GradientCase> {
 protected:
  Gradient() : backbone_(test::tiny_backbone(GetParam().special_tokens)), workspace_(*backbone_) {
    const auto& adapter = GetParam().adapter;
    const test::MemorySamples samples(*backbone_, 5, {{0, 4}, {4, 2}}, 1);
    state_ = make_client_state(adapter, backbone_->geometry(), 1, 0);
    // Prompts of the size that training gives them: at their first size features hardly depend on them.
    for (std::size_t r = 0; r < state_.prompts().rows(); ++r) {
      for (float& value : state_.prompts().row(r)) value *= 5;
    }
    const std::vector<std::size_t> batch = {4, 0, 1, 3, 2};
    load_batch(adapter, samples, batch, workspace_);
    if (drops_out(adapter.head)) {
      workspace_.dropout.resize(batch.size(), 512);
      draw_dropout({1, 2, 3}, 4, adapter.head.dropout, workspace_.dropout);
    }
  }

  double loss_at(const ClientState& state) {
    return differentiate_batch(GetParam().adapter, state, GetParam().mask, workspace_);
  }

  // The slope of the loss by central differences, along a direction of length 1 inside one part.
  double slope(const StateLayout::Part& part, const std::vector<double>& direction) {
    constexpr double kStep = 0.003;
    double ends[2];
    for (const int end : {0, 1}) {
      ClientState moved = state_;
      for (std::size_t i = 0; i < part.size; ++i)
        moved.values[part.offset + i] += static_cast<float>((end == 0 ? -kStep : kStep) * direction[i]);
      ends[end] = loss_at(moved);
    }
    return (ends[1] - ends[0]) / (2 * kStep);
  }

  std::unique_ptr<Backbone> backbone_;
  Workspace workspace_;
  ClientState state_;
};

std::vector<double> unit(std::vector<double> v) {
  double square = 0;
  for (const double x : v) square += x * x;
  for (double& x : v) x /= std::sqrt(square);
  return v;
}

TEST_P(Gradient, IsTheSlopeOfTheLossInEveryPart) {
  loss_at(state_);
  const auto gradient = workspace_.gradient;
  for (const auto& part : state_.layout.parts()) {
    const std::vector<double> own(gradient.begin() + static_cast<std::ptrdiff_t>(part.offset),
                                  gradient.begin() + static_cast<std::ptrdiff_t>(part.offset + part.size));
    double square = 0;
    for (const double g : own) square += g * g;
    const double norm = std::sqrt(square);
    if (norm == 0) {  // what nothing trains
      EXPECT_EQ(part.name, kProjectionPart);
      EXPECT_EQ(GetParam().adapter.prompts.similarity_weight, 0);
      continue;
    }
    EXPECT_NEAR(slope(part, unit(own)) / norm, 1, 0.02) << part.name;
    RandomStream stream(5, part.name);
    std::vector<double> direction(part.size);
    for (double& x : direction) x = stream.normal();
    direction = unit(direction);
    double expected = 0;
    for (std::size_t i = 0; i < own.size(); ++i) expected += own[i] * direction[i];
    EXPECT_NEAR(slope(part, direction) / norm, expected / norm, 0.02) << part.name;
  }
}

INSTANTIATE_TEST_SUITE_P(OfEveryHeadAndPool, Gradient, testing::ValuesIn(kCases),
                         [](const auto& c) { return std::string(c.param.name); });

}  // namespace
}  // namespace dfrost
