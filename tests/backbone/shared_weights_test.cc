#include "backbone/shared_weights.h"

#include <gtest/gtest.h>

#include <cstring>

#include "backbone/random_weights.h"
#include "backbone/step.h"
#include "backbone/weights.h"
#include "dfrost/backbone.h"
#include "support/amx_emulator.h"
#include "support/support.h"

namespace dfrost {
namespace {

using test::run_step;
using test::StepInput;

// Remembers what was packed where.
class Watched final : public WeightMemory {
 public:
  WeightRoom room_for(const std::string& name, std::size_t bytes) override {
    auto room = weights.room_for(name, bytes);
    const std::lock_guard lock(mutex_);
    packed_.emplace_back(room.data, bytes);
    return room;
  }
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const auto& [data, bytes] : packed_) sum += bytes;
    return sum;
  }
  void erase() {
    for (const auto& [data, bytes] : packed_) std::memset(data.get(), 0, bytes);
  }

  SharedWeights weights;

 private:
  std::mutex mutex_;
  std::vector<std::pair<std::shared_ptr<std::byte>, std::size_t>> packed_;
};

void expect_one_model_for_both(const WeightSource& source, Precision precision) {
  const BackboneOptions options{.precision = precision};
  const auto own = make_backbone(source, options);
  Watched shared;
  const auto first = make_backbone(source, options, &shared);
  OfferedWeights offered(shared.weights.offer("a model"));
  const auto second = make_backbone(source, options, &offered);

  EXPECT_EQ(first->weight_bytes(), own->weight_bytes());
  EXPECT_EQ(second->weight_bytes(), own->weight_bytes());
  EXPECT_GT(shared.bytes(), own->weight_bytes() * 4 / 5) << "the matrices are not what is shared";
  const StepInput in(source.geometry(), 3, 4, true, 2);
  const auto expected = run_step(*own, in);
  for (const auto* backbone : {first.get(), second.get()}) {
    const auto got = run_step(*backbone, in);
    EXPECT_EQ(got.features, expected.features);
    EXPECT_EQ(got.d_prompts, expected.d_prompts);
  }
  shared.erase();
  const auto erased = run_step(*first, in);
  EXPECT_NE(erased.features, expected.features);
  EXPECT_EQ(run_step(*second, in).features, erased.features) << "the second has a copy of its own";
}

// Of both architectures; the positions of a ConViT are some of its matrices.
void expect_one_model_for_both(Precision precision) {
  const Geometry tiny = geometry_of_model("tiny");
  expect_one_model_for_both(RandomWeights(tiny, 4), precision);
  Geometry convit = tiny;
  convit.gated_blocks = 2;
  convit.architecture = "convit";
  expect_one_model_for_both(RandomConvit(convit, 4), precision);
}

TEST(SharedWeights, AreOneModelForAllThatTakeThemUpInFp32) { expect_one_model_for_both(Precision::fp32); }

TEST(SharedWeights, AreOneModelForAllThatTakeThemUpInBf16) {
  const test::Bf16ForTest bf16_here;
  expect_one_model_for_both(Precision::bf16);
}

TEST(SharedWeights, HaveTheKeysOfAConvitsPositions) {
  Geometry geometry = geometry_of_model("tiny");
  geometry.gated_blocks = 2;
  geometry.architecture = "convit";
  SharedWeights shared;
  make_backbone(RandomConvit(geometry, 4), {.precision = Precision::fp32}, &shared);
  std::size_t positions = 0, patches = 0;
  for (const auto& place : shared.offer("a model").places) {
    positions += place.name.ends_with("/positions") ? 1 : 0;
    patches += place.name.find("/patch/") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(positions, 2u);
  EXPECT_EQ(patches, 1u);  // not once more for the blocks behind the gated ones
}

TEST(SharedWeights, OutliveTheirOfferInWhoTookThemUp) {
  const RandomWeights source(geometry_of_model("tiny"), 4);
  const BackboneOptions options{.precision = Precision::fp32};
  std::unique_ptr<Backbone> second;
  {
    SharedWeights shared;
    make_backbone(source, options, &shared);
    OfferedWeights offered(shared.offer("a model"));
    second = make_backbone(source, options, &offered);
  }
  const StepInput in(source.geometry(), 3, 4, true, 2);
  EXPECT_EQ(run_step(*second, in).features, run_step(*make_backbone(source, options), in).features);
}

TEST(SharedWeights, AreRefusedByAModelOfAnotherShape) {
  SharedWeights shared;
  auto geometry = geometry_of_model("tiny");
  make_backbone(RandomWeights(geometry, 4), {.precision = Precision::fp32}, &shared);
  OfferedWeights offered(shared.offer("a model"));
  geometry.mlp_width *= 2;
  test::expect_error(ErrorCode::internal, "has no matrix", [&] {
    make_backbone(RandomWeights(geometry, 4), {.precision = Precision::fp32}, &offered);
  });
}

}  // namespace
}  // namespace dfrost
