#include "train/prompt_pool.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "backbone/random_weights.h"

namespace dfrost {
namespace {

// A pool whose projection is the identity and whose keys are unit vectors, so that relevance is the query's
// own coordinate (over its length).
struct Fixture {
  Geometry geometry = geometry_of_model("tiny");
  AdapterOptions adapter{.prompts = {.count = 2, .pool = 4, .keys = PoolKeys::separate},
                         .head = {.classes = 2}};
  ClientState state;
  Matrix<float> features;
  PoolPass pass;

  explicit Fixture(const std::vector<std::vector<float>>& coordinates) {
    state = make_client_state(adapter, geometry, 1, 0);
    const auto projection = state.part(kProjectionPart), keys = state.part(kKeysPart);
    for (const auto part : {projection, keys}) {
      for (std::size_t r = 0; r < part.rows(); ++r) {
        std::ranges::fill(part.row(r), 0.0f);
        part(r, r) = 1.0f;
      }
    }
    features.resize(coordinates.size(), geometry.width);
    for (std::size_t i = 0; i < coordinates.size(); ++i) {
      std::ranges::fill(features.row(i), 0.0f);
      std::ranges::copy(coordinates[i], features.row(i).begin());
    }
  }
  std::vector<std::size_t> choose() {
    choose_prompts(adapter.prompts, state, features, pass);
    return pass.chosen;
  }
};

using Indices = std::vector<std::size_t>;

TEST(PromptPool, TakesTheMostRelevantPromptsForEachImage) {
  Fixture pool({{0.1f, 0.9f, 0.3f, 0.2f}, {0.5f, -0.9f, 0.1f, 0.6f}});
  EXPECT_EQ(pool.choose(), (Indices{1, 2, 0, 3}));
  const auto prompts = std::as_const(pool.state).prompts();
  for (std::size_t r = 0; r < 4; ++r)
    EXPECT_TRUE(std::ranges::equal(pool.pass.prompts.row(r), prompts.row(pool.pass.chosen[r])));
}

TEST(PromptPool, BreaksTiesByIndex) {
  EXPECT_EQ(Fixture({{0.5f, 0.5f, 0.5f, 0.5f}}).choose(), (Indices{0, 1}));
  EXPECT_EQ(Fixture({{0.1f, 0.5f, 0.7f, 0.5f}}).choose(), (Indices{1, 2}));
}

TEST(PromptPool, ABatchVotesForPromptsThatAllItsImagesUse) {
  Fixture pool(
      {{0.9f, 0.8f, 0.0f, 0.1f}, {0.0f, 0.8f, 0.1f, 0.9f}, {0.9f, 0.0f, 0.1f, 0.8f}, {0, 0, 0.9f, 0.8f}});
  pool.adapter.prompts.choice = PoolChoice::per_batch;
  EXPECT_EQ(pool.choose(), (Indices{0, 3}));  // votes 2, 2, 1, 3: the tie for second goes to the lower index
  EXPECT_EQ(pool.pass.prompts.rows(), 2u);
}

TEST(PromptPool, RelevanceDoesNotDependOnTheLengthOfKeysAndADeadKeyHasNone) {
  Fixture pool({{0.1f, 0.9f, 0.3f, 0.2f}});
  const auto keys = pool.state.part(kKeysPart);
  keys(0, 0) = 1000.0f;
  EXPECT_EQ(pool.choose(), (Indices{1, 2}));
  keys(1, 1) = 0.0f;  // a prompt that a merge left without mass
  EXPECT_EQ(pool.choose(), (Indices{2, 3}));
  EXPECT_EQ(pool.pass.similarity.row(0)[1], 0.0f);
}

TEST(PromptPool, SumsTheGradientsOfAllImagesThatUsedAPrompt) {
  Fixture pool({{0.1f, 0.9f, 0.3f, 0.2f}, {0.5f, 0.9f, 0.1f, 0.2f}});
  ASSERT_EQ(pool.choose(), (Indices{1, 2, 0, 1}));
  Matrix<float> d_prompts(4, pool.geometry.width);
  for (std::size_t r = 0; r < 4; ++r) std::ranges::fill(d_prompts.row(r), static_cast<float>(r + 1));
  std::vector<float> gradient(pool.state.values.size());
  choose_prompts_backward(pool.adapter.prompts, pool.state, pool.features, d_prompts, pool.pass, gradient);
  const auto d_pool = part_of(pool.state.layout, std::span(gradient), kPromptPart);
  EXPECT_EQ(d_pool(0, 0), 3.0f);
  EXPECT_EQ(d_pool(1, 0), 1.0f + 4.0f);
  EXPECT_EQ(d_pool(2, 0), 2.0f);
  EXPECT_EQ(d_pool(3, 0), 0.0f);
}

TEST(PromptPool, WithoutASimilarityTermNothingTrainsProjectionAndKeys) {
  Fixture pool({{0.1f, 0.9f, 0.3f, 0.2f}});
  pool.choose();
  EXPECT_EQ(similarity_term(pool.adapter.prompts, pool.pass), 0);
  const Matrix<float> d_prompts = [&] {
    Matrix<float> d(2, pool.geometry.width);
    for (std::size_t r = 0; r < 2; ++r) std::ranges::fill(d.row(r), 1.0f);
    return d;
  }();
  std::vector<float> gradient(pool.state.values.size());
  choose_prompts_backward(pool.adapter.prompts, pool.state, pool.features, d_prompts, pool.pass, gradient);
  for (const auto name : {kProjectionPart, kKeysPart}) {
    const auto part = part_of(pool.state.layout, std::span(gradient), name);
    for (std::size_t r = 0; r < part.rows(); ++r) EXPECT_EQ(std::ranges::count(part.row(r), 0.0f), 64);
  }
}

}  // namespace
}  // namespace dfrost
