#include "train/client_state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "backbone/random_weights.h"
#include "support/support.h"
#include "train/head.h"

namespace dfrost {
namespace {

float largest_of(MatrixView<const float> part) {
  float largest = 0;
  for (std::size_t r = 0; r < part.rows(); ++r) {
    for (const float value : part.row(r)) largest = std::max(largest, std::abs(value));
  }
  return largest;
}

TEST(ClientState, HasThePublishedNumberOfParameters) {
  const Geometry g = geometry_of_model("vit-b32");
  const auto head_size = [&](HeadOptions head) { return layout_of({.head = head}, g).size() - 10 * g.width; };
  EXPECT_EQ(head_size({.kind = HeadKind::pfpt, .classes = 50}), 538'162u);
  EXPECT_EQ(head_size({.kind = HeadKind::linear, .classes = 50}), 768u * 50 + 50);
  EXPECT_EQ(head_size({.kind = HeadKind::mlp, .classes = 50, .hidden = {64, 32}}),
            768u * 64 + 64 + 64 * 32 + 32 + 32 * 50 + 50);
  EXPECT_EQ(
      layout_of({.prompts = {.pool = 20, .keys = PoolKeys::separate}, .head = {.classes = 50}}, g).size(),
      2 * 20 * 768u + 768 * 768 + 768 * 50 + 50);
}

TEST(ClientState, FillsTheRangesOfItsInitialisation) {
  const Geometry g = geometry_of_model("vit-b32");
  const auto state = make_client_state({.head = {.kind = HeadKind::pfpt, .classes = 50}}, g, 1, 0);
  const auto fills = [&](std::string_view part, double bound) {
    const auto largest = static_cast<double>(largest_of(state.part(part)));
    EXPECT_LE(largest, bound) << part;
    EXPECT_GT(largest, 0.9 * bound) << part;
  };
  fills(kPromptPart, std::sqrt(6.0 / (3 * 32 * 32 + 768)));  // ±0.0395
  fills(head_weight_name(0), 1 / std::sqrt(1000.0));
  fills(head_bias_name(0), 1 / std::sqrt(1000.0));
  fills(head_weight_name(1), 1 / std::sqrt(512.0));
  fills(head_bias_name(1), 1 / std::sqrt(512.0));
}

TEST(ClientState, IsTheSameAtAllClientsUnlessPromptsAreIndependent) {
  const Geometry g = geometry_of_model("tiny");
  AdapterOptions adapter{.head = {.classes = 5}};
  const auto first = make_client_state(adapter, g, 1, 0);
  EXPECT_EQ(make_client_state(adapter, g, 1, 7).values, first.values);
  EXPECT_NE(make_client_state(adapter, g, 2, 0).values, first.values);
  adapter.prompts.init = PromptInit::independent;
  const auto a = make_client_state(adapter, g, 1, 0), b = make_client_state(adapter, g, 1, 7);
  EXPECT_NE(a.prompts()(0, 0), b.prompts()(0, 0));
  EXPECT_TRUE(std::ranges::equal(a.part(head_weight_name(0)).row(0), b.part(head_weight_name(0)).row(0)));
}

TEST(ClientState, ASmallerPromptBudgetStartsWithTheFirstPromptsOfALargerOne) {
  const Geometry g = geometry_of_model("tiny");
  const auto small = make_client_state({.prompts = {.count = 3}, .head = {.classes = 5}}, g, 1, 0);
  const auto large = make_client_state({.prompts = {.count = 8}, .head = {.classes = 5}}, g, 1, 0);
  EXPECT_TRUE(std::ranges::equal(small.prompts().row(2), large.prompts().row(2)));
}

TEST(ClientState, ComesBackFromASafetensorsFileBitForBit) {
  const Geometry g = geometry_of_model("tiny");
  const AdapterOptions adapter{.prompts = {.count = 3, .pool = 5, .keys = PoolKeys::separate},
                               .head = {.kind = HeadKind::mlp, .classes = 5, .hidden = {9}}};
  const auto written = make_client_state(adapter, g, 1, 0);
  auto read = make_client_state(adapter, g, 2, 0);
  const auto bytes = serialize_safetensors(tensors_of(written));
  read_state(parse_safetensors(bytes, "message"), read);
  EXPECT_EQ(read.values, written.values);
}

TEST(ClientState, RefusesAMessageThatDoesNotFitAndKeepsItsOwnValues) {
  const Geometry g = geometry_of_model("tiny");
  const AdapterOptions adapter{.head = {.classes = 5}};
  auto state = make_client_state(adapter, g, 1, 0);
  const auto before = state.values;
  const auto refuses = [&](const ClientState& sent, const char* reason) {
    const auto bytes = serialize_safetensors(tensors_of(sent));
    test::expect_error(ErrorCode::data_loss, reason,
                       [&] { read_state(parse_safetensors(bytes, "m"), state); });
    EXPECT_EQ(state.values, before);
  };
  refuses(make_client_state({.head = {.classes = 6}}, g, 1, 0),
          "'head.0.weight' is [6, 64], expected [5, 64]");
  auto poisoned = state;
  poisoned.part(head_bias_name(0))(0, 1) = std::numeric_limits<float>::quiet_NaN();
  refuses(poisoned, "'head.0.bias' holds something that is not a finite number");
  ClientState empty;
  refuses(empty, "'prompt_embeddings' is missing");
}

TEST(AdapterOptions, RefusesWhatDoesNotFitAndNamesTheSetting) {
  Geometry g = geometry_of_model("tiny");
  const auto refuses = [&](const char* text, const AdapterOptions& adapter) {
    test::expect_error(ErrorCode::invalid_argument, text, [&] { adapter.validate(g); });
  };
  refuses("prompts.count", {.prompts = {.count = 0, .pool = 3}, .head = {.classes = 5}});
  refuses("cannot be chosen from a pool of 5", {.prompts = {.count = 6, .pool = 5}, .head = {.classes = 5}});
  refuses("head.classes", {});
  refuses("head.dropout", {.head = {.classes = 5, .dropout = 1}});
  refuses("head.hidden", {.head = {.kind = HeadKind::mlp, .classes = 5, .hidden = {4, 0}}});
  g.classes = 0;
  refuses("this one has none", {.head = {.kind = HeadKind::pfpt, .classes = 5}});
}

}  // namespace
}  // namespace dfrost
