// What protects pictures in training: each picture's own gradient, clipped; batches drawn at random; noise.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "dfrost/error.h"
#include "train/local_update.h"
#include "train/samples.h"

namespace dfrost {
namespace {

constexpr std::size_t kPictures = 7;

struct PrivateCase {
  const char* name;
  HeadOptions head;
  std::size_t special_tokens = 1;
};

HeadOptions head_of(HeadKind kind) { return {.kind = kind, .classes = 6, .hidden = {20, 12}}; }

const PrivateCase kPrivateCases[] = {{"Linear", head_of(HeadKind::linear)},
                                     {"LinearDistilled", head_of(HeadKind::linear), 2},
                                     {"Pfpt", head_of(HeadKind::pfpt)},
                                     {"PfptDistilled", head_of(HeadKind::pfpt), 2},
                                     {"Mlp", head_of(HeadKind::mlp)}};

void PrintTo(const PrivateCase& c, std::ostream* out) { *out << c.name; }

std::vector<std::size_t> first_pictures(std::size_t count) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

double norm_of(std::span<const float> values) {
  double square = 0;
  for (const float value : values) square += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(square);
}

// Relative to the longer of the two.
double distance(std::span<const float> a, std::span<const float> b) {
  std::vector<float> way(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) way[i] = a[i] - b[i];
  return norm_of(way) / std::max({norm_of(a), norm_of(b), 1e-30});
}

// One picture cannot be computed with.
class SpoiltSamples final : public SampleSource {
 public:
  SpoiltSamples(const SampleSource& all, std::size_t spoilt) : all_(all), spoilt_(spoilt) {}
  std::size_t size() const override { return all_.size(); }
  std::size_t label(std::size_t sample) const override { return all_.label(sample); }
  std::size_t domain(std::size_t sample) const override { return all_.domain(sample); }
  std::span<const ClassRange> domains() const override { return all_.domains(); }
  void write_patches(std::size_t sample, std::span<float> patches) const override {
    all_.write_patches(sample, patches);
    if (sample == spoilt_) patches[0] = std::numeric_limits<float>::quiet_NaN();
  }
  void write_query(std::size_t sample, std::span<float> query) const override {
    all_.write_query(sample, query);
  }

 private:
  const SampleSource& all_;
  std::size_t spoilt_;
};

class PrivateStep : public testing::TestWithParam<PrivateCase> {
 protected:
  PrivateStep()
      : adapter_{.prompts = {.count = 3}, .head = GetParam().head},
        backbone_(test::tiny_backbone(GetParam().special_tokens)),
        workspace_(*backbone_),
        samples_(*backbone_, kPictures, test::kDomains, 1),
        state_(make_client_state(adapter_, backbone_->geometry(), 1, 0)) {
    for (std::size_t r = 0; r < state_.prompts().rows(); ++r)
      for (float& value : state_.prompts().row(r)) value *= 5;
  }

  void load(const SampleSource& source, std::span<const std::size_t> pictures) {
    load_batch(adapter_, source, pictures, workspace_);
    if (!drops_out(adapter_.head)) return;
    // A picture keeps what it drops, whoever else is in the batch.
    workspace_.dropout.resize(pictures.size(), 512);
    for (std::size_t i = 0; i < pictures.size(); ++i)
      draw_dropout({1, 2, 3}, pictures[i], adapter_.head.dropout, {workspace_.dropout.row(i).data(), 1, 512});
  }

  // By a pass of its own.
  std::vector<float> gradient_of(std::size_t picture) {
    load(samples_, std::span(&picture, 1));
    differentiate_batch(adapter_, state_, ClassMask::domain, workspace_);
    return workspace_.gradient;
  }

  std::vector<float> clipped_sum(std::span<const std::size_t> pictures, double clip) {
    load(samples_, pictures);
    differentiate_clipped(adapter_, state_, ClassMask::domain, clip, workspace_);
    return workspace_.gradient;
  }

  AdapterOptions adapter_;
  std::unique_ptr<Backbone> backbone_;
  Workspace workspace_;
  test::MemorySamples samples_;
  ClientState state_;
};

TEST_P(PrivateStep, HasTheGradientsOfSinglePictures) {
  std::vector<std::vector<float>> alone;
  for (std::size_t i = 0; i < kPictures; ++i) alone.push_back(gradient_of(i));
  load(samples_, first_pictures(kPictures));
  differentiate_clipped(adapter_, state_, ClassMask::domain, 1e9, workspace_);
  const auto& prompts = state_.layout.at(kPromptPart);
  for (std::size_t i = 0; i < kPictures; ++i) {
    EXPECT_NEAR(workspace_.gradient_norms[i], norm_of(alone[i]), 1e-5 * norm_of(alone[i])) << i;
    const std::span together(workspace_.d_prompts.data() + i * prompts.size, prompts.size);
    EXPECT_LT(distance(together, std::span(alone[i]).subspan(prompts.offset, prompts.size)), 1e-5) << i;
  }
}

TEST_P(PrivateStep, AddsUpTheClippedGradientsOfSinglePictures) {
  std::vector<double> norms;
  for (std::size_t i = 0; i < kPictures; ++i) norms.push_back(norm_of(gradient_of(i)));
  auto sorted = norms;
  std::ranges::sort(sorted);
  for (const double clip : {1e-3, sorted[kPictures / 2], 1e9}) {  // of all pictures, of half of them, of none
    std::vector<float> expected(state_.values.size(), 0.0f);
    for (std::size_t i = 0; i < kPictures; ++i) {
      const auto own = gradient_of(i);
      const double share = std::min(1.0, clip / norms[i]);
      for (std::size_t k = 0; k < own.size(); ++k)
        expected[k] += static_cast<float>(share * static_cast<double>(own[k]));
    }
    EXPECT_LT(distance(clipped_sum(first_pictures(kPictures), clip), expected), 1e-5) << clip;
  }
}

TEST_P(PrivateStep, ChangesByNoMoreThanTheClipWhenAPictureComesOrGoes) {
  const double clip = 0.05;
  const auto all = first_pictures(kPictures);
  const auto with = clipped_sum(all, clip);
  for (std::size_t left_out = 0; left_out < kPictures; ++left_out) {
    auto others = all;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(left_out));
    auto way = clipped_sum(others, clip);
    for (std::size_t k = 0; k < way.size(); ++k) way[k] -= with[k];
    EXPECT_LE(norm_of(way), clip * (1 + 1e-5));
  }
}

TEST_P(PrivateStep, ClipsTheHeadAloneWhilePromptsRest) {
  const auto all = first_pictures(kPictures);
  load(samples_, all);
  compute_features(adapter_, state_, workspace_);
  differentiate_head_clipped(adapter_, state_, ClassMask::domain, 1e9, workspace_);
  const auto resting = workspace_.gradient;
  const auto moving = clipped_sum(all, 1e9);
  const std::size_t head = head_offset(state_.layout);
  EXPECT_EQ(norm_of(std::span(resting).first(head)), 0);
  EXPECT_LT(distance(std::span(resting).subspan(head), std::span(moving).subspan(head)), 1e-5);
  load(samples_, all);
  compute_features(adapter_, state_, workspace_);
  differentiate_head_clipped(adapter_, state_, ClassMask::domain, 1e-3, workspace_);
  EXPECT_LE(norm_of(workspace_.gradient), 1e-3 * kPictures * (1 + 1e-5));
}

TEST_P(PrivateStep, TakesNothingFromAPictureThatCannotBeComputed) {
  const SpoiltSamples spoilt(samples_, 2);
  load(spoilt, first_pictures(kPictures));
  differentiate_clipped(adapter_, state_, ClassMask::domain, 0.5, workspace_);
  const auto with = workspace_.gradient;
  const std::vector<std::size_t> others = {0, 1, 3, 4, 5, 6};
  EXPECT_LT(distance(with, clipped_sum(others, 0.5)), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Heads, PrivateStep, testing::ValuesIn(kPrivateCases),
                         [](const auto& tested) { return tested.param.name; });

struct PrivateTraining : testing::Test {
  AdapterOptions adapter{.prompts = {.count = 3}, .head = head_of(HeadKind::linear)};
  std::unique_ptr<Backbone> backbone = test::tiny_backbone();
  Workspace workspace{*backbone};
  test::MemorySamples samples{*backbone, 20, test::kDomains, 1};
  TrainOptions options{.optimizer = {.learning_rate = 0.01}, .batch = 4, .epochs = 2};
  LocalUpdateSummary summary;

  std::vector<float> trained(std::uint64_t round = 1) {
    auto state = make_client_state(adapter, backbone->geometry(), 1, 0);
    summary = local_update(adapter, state, samples, options, {1, 2, round}, workspace);
    return state.values;
  }
};

TEST_F(PrivateTraining, WithoutNoiseAndLimitIsTrainingOnAllPicturesAtOnce) {
  options.batch = 64;
  const auto plain = trained();
  options.pictures = {.clip = 1e9, .noise = 0};
  EXPECT_LT(distance(trained(), plain), 1e-5);
  EXPECT_EQ(summary.images, 40u);
}

TEST_F(PrivateTraining, TakesAsManyStepsAsWithout) {
  options.pictures = {.clip = 1, .noise = 1};
  trained();
  EXPECT_EQ(summary.steps, 10u);
  EXPECT_EQ(summary.epoch_loss.size(), 2u);
  options.max_steps = 3;
  trained();
  EXPECT_EQ(summary.steps, 3u);
}

TEST_F(PrivateTraining, IsTheSameEveryTimeInASimulationAndNeverBetweenSites) {
  options.pictures = {.clip = 1, .noise = 1};
  const auto once = trained();
  EXPECT_EQ(trained(), once);
  EXPECT_NE(trained(2), once);
  options.pictures.origin = NoiseOrigin::system;
  const auto secret = trained();
  EXPECT_NE(secret, once);
  EXPECT_NE(trained(), secret);
}

TEST_F(PrivateTraining, NoisesStepsWithoutPicturesToo) {
  options.batch = 1;  // a twentieth of the pictures on average: many batches hold none
  options.optimizer = {.kind = OptimizerKind::sgd, .learning_rate = 1};
  options.max_steps = 1;
  options.epochs = 1;
  options.pictures = {.clip = 0.5, .noise = 2};
  const auto start = make_client_state(adapter, backbone->geometry(), 1, 0).values;
  std::size_t empty = 0;
  for (std::uint64_t round = 0; round < 20; ++round) {
    auto way = trained(round);
    for (std::size_t i = 0; i < way.size(); ++i) way[i] -= start[i];
    empty += summary.images == 0 ? 1 : 0;
    // Deviation clip · noise in every value, over an expected batch of one.
    const double deviation = norm_of(way) / std::sqrt(static_cast<double>(way.size()));
    EXPECT_NEAR(deviation, 1.0, 6 / std::sqrt(2.0 * static_cast<double>(way.size())));
  }
  EXPECT_GT(empty, 0u);
  EXPECT_LT(empty, 20u);
}

TEST_F(PrivateTraining, RefusesSam) {
  options.pictures = {.clip = 1, .noise = 1};
  options.optimizer.sam_radius = 0.1;
  EXPECT_THROW(trained(), Error);
}

TEST(PrivateBatches, HoldEveryPictureWithTheSameProbability) {
  const RandomKey key{1, 2, 3};
  for (const auto origin : {NoiseOrigin::seed, NoiseOrigin::system}) {
    PrivateBatches secret({1, 1, origin}, 5, 40, key);
    std::vector<double> seen(40, 0.0);
    for (int step = 0; step < 4000; ++step)
      for (const std::size_t picture : secret.draw()) ++seen.at(picture);
    // Six deviations of a binomial count.
    for (const double count : seen) EXPECT_NEAR(count, 500, 6 * std::sqrt(4000 * 0.125 * 0.875));
  }
}

TEST(PrivateBatches, HoldAllPicturesOfAClientThatHasFewer) {
  PrivateBatches secret({1, 1}, 16, 9, {1, 2, 3});
  EXPECT_EQ(secret.draw(), first_pictures(9));
  EXPECT_EQ(sampling_rate(16, 9), 1);
  EXPECT_EQ(sampling_rate(16, 64), 0.25);
}

}  // namespace
}  // namespace dfrost
