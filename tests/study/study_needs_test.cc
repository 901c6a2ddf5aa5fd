// What a study lacks on this machine, and how long it would take.
#include "study/study_needs.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/support.h"

namespace dfrost {
namespace {

// A data folder with empty files of these names in notmnist/.
std::vector<std::string> missing_with(const std::vector<std::string>& files) {
  const test::TemporaryFolder root;
  std::filesystem::create_directories(root.path() / "notmnist");
  for (const auto& name : files) std::ofstream(root.path() / "notmnist" / name) << "";
  RunConfig config;
  config.backbone.path = DFROST_SOURCE_DIR "/share/dfrost/backbones/frost-mini";
  config.data.root = root.path();
  config.data.domains = {{.name = "notmnist"}};
  return missing_for(config);
}

TEST(StudyNeeds, ADataSetOfWhichOneSplitIsHereIsHereSinceTheOtherIsHeldOutOfIt) {
  const std::vector<std::string> none, all = {"data set notmnist"};
  EXPECT_EQ(missing_with({"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}), none);
  EXPECT_EQ(missing_with({"train-images-idx3-ubyte", "train-labels-idx1-ubyte"}), none);
  EXPECT_EQ(missing_with({"train-images-idx3-ubyte"}), all);
  EXPECT_EQ(missing_with({"train-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}), all);
  EXPECT_EQ(missing_with({}), all);
}

RunConfig small_run() {
  RunConfig config;
  config.backbone.path = DFROST_SOURCE_DIR "/share/dfrost/backbones/frost-mini";
  config.backbone.image_size = 32;
  config.data.train_per_domain = 100;
  config.data.test_per_domain = 50;
  config.train.batch = 4;
  config.run.threads = 1;
  return config;
}

TEST(StudyRates, TellTimeByWorkAtARateThatIsMeasuredOnce) {
  StudyRates rates;
  auto config = small_run();
  const auto seconds = rates.seconds_of(config);
  ASSERT_TRUE(seconds);
  EXPECT_GT(*seconds, 0);
  const double work = *config.work();
  config.run.rounds *= 3;
  EXPECT_DOUBLE_EQ(*rates.seconds_of(config) / *seconds, *config.work() / work);
}

TEST(StudyRates, KnowNothingOfABackboneThatIsNeitherHereNorOfAKnownShape) {
  StudyRates rates;
  auto config = small_run();
  config.backbone.path = "nobody-knows-it";
  EXPECT_FALSE(rates.seconds_of(config));
}

TEST(StudyRates, TellNothingWhereTheTimeGoesIntoSomethingElseThanPasses) {
  StudyRates rates;
  auto pools = small_run(), kernels = small_run(), pixels = small_run();
  pools.merge.pool.kind = PoolMerge::pfpt;
  kernels.method.round = RoundKind::ntk;
  pixels.backbone.path = "pixels";
  for (const auto& config : {pools, kernels, pixels}) EXPECT_FALSE(rates.seconds_of(config));
}

}  // namespace
}  // namespace dfrost
