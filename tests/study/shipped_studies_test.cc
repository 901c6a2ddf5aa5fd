// The studies that come with dfrost, as files.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "study/study_plan.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

const fs::path kStudies = fs::path(DFROST_SOURCE_DIR) / "share/dfrost/studies";

std::vector<fs::path> study_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(kStudies)) {
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

TEST(ShippedStudies, AreValidExperimentsAtEveryScaleAndShowSomething) {
  for (const auto& file : study_files()) {
    SCOPED_TRACE(file.string());
    const Study study = load_study(file.string());
    EXPECT_FALSE(study.tables.empty());
    EXPECT_FALSE(study.about.empty());
    std::vector<std::string> scales;
    for (const auto& scale : study.scales) scales.push_back(scale.name);
    if (scales.empty()) scales.emplace_back();
    for (const auto& scale : scales) EXPECT_GT(plan_study(study, {.scale = scale}).runs.size(), 0u) << scale;
  }
}

TEST(ShippedStudies, HaveEveryTableAndFigureOfThePaperAtThreeScales) {
  std::set<std::string> items;
  for (const auto& entry : fs::directory_iterator(kStudies / "paper")) {
    const Study study = load_study(entry.path().string());
    items.insert(entry.path().stem());
    ASSERT_EQ(study.scales.size(), 3u) << entry.path();
    EXPECT_EQ(study.scales[0].name, "minutes");
    EXPECT_EQ(study.scales[1].name, "hours");
    EXPECT_EQ(study.scales[2].name, "full");
    for (const auto* scale : {"minutes", "hours"})
      EXPECT_GE(plan_study(study, {.scale = scale}).seeds.size(), 3u) << entry.path();
  }
  EXPECT_EQ(items, (std::set<std::string>{"backbones", "budget", "consensus", "consensus-factors", "cost",
                                          "epsilon", "explosion", "factorial", "five", "four", "plus",
                                          "robustness", "topologies"}));
}

// Settings are chosen on pictures that no other table shows.
TEST(ShippedStudies, ChooseSettingsOnSeedsThatNoOtherStudyUses) {
  const std::set<std::string> choosing = {"rates", "ntk-dfl-rates", "class-mass", "prompt-mass"};
  const auto chosen = plan_study(load_study((kStudies / "rates.toml").string()), {}).seeds;
  for (const auto& file : study_files()) {
    if (choosing.contains(file.stem())) continue;
    for (const Seed seed : plan_study(load_study(file.string()), {}).seeds)
      EXPECT_EQ(std::ranges::count(chosen, seed), 0) << file;
  }
}

}  // namespace
}  // namespace dfrost
