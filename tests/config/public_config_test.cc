#include <gtest/gtest.h>

#include <algorithm>

#include "config/config_access.h"
#include "config/presets.h"
#include "config/toml_file.h"
#include "dfrost/config.h"
#include "support/support.h"

namespace dfrost {
namespace {

TEST(Config, HoldsWhatItsTextSaysAndWhatIsSetLater) {
  Config config = Config::parse("[train]\nbatch = 4\n", {{"run.name", "mine"}});
  EXPECT_EQ(config.get("train.batch"), "4");
  EXPECT_EQ(config.get("run.name"), "mine");
  const Config before = config;
  config.set("train.batch", "8");
  EXPECT_EQ(config.get("train.batch"), "8");
  EXPECT_EQ(config.get("run.name"), "mine");
  EXPECT_EQ(before.get("train.batch"), "4");
}

TEST(Config, GivesValuesByTheirTypes) {
  const Config config = Config::parse("", {{"prompts.counts", "[2, 3]"}});
  EXPECT_EQ(std::get<std::string>(config.value("merge.kind")), "ot");
  EXPECT_EQ(std::get<std::size_t>(config.value("run.rounds")), 40u);
  EXPECT_EQ(std::get<double>(config.value("merge.epsilon")), 0.01);
  EXPECT_EQ(std::get<bool>(config.value("diagnostics.theory")), false);
  EXPECT_EQ(std::get<std::vector<std::size_t>>(config.value("prompts.counts")),
            (std::vector<std::size_t>{2, 3}));
  EXPECT_NE(std::get<std::string>(config.value("data.domains")).find("\"svhn\""), std::string::npos);
}

TEST(Config, TakesBackWhateverItGives) {
  const Config config = Config::preset("demo");
  Config other = Config::preset("demo");
  for (const auto& key : known_config_keys()) {
    if (key.name != "method.name") other.set(key.name, config.get(key.name));
  }
  EXPECT_EQ(other.to_toml(), config.to_toml());
  EXPECT_EQ(Config::parse(config.to_toml()).to_toml(), config.to_toml());
}

TEST(Config, IsUnchangedByWhatItRefuses) {
  Config config = Config::preset("demo");
  const std::string before = config.to_toml();
  test::expect_error(ErrorCode::invalid_argument, "did you mean 'batch'",
                     [&] { config.set("train.bach", "8"); });
  test::expect_error(ErrorCode::invalid_argument, "train.batch", [&] { config.set("train.batch", "many"); });
  test::expect_error(ErrorCode::invalid_argument, "did you mean 'train.batch'",
                     [&] { config.get("train.batches"); });
  test::expect_error(ErrorCode::invalid_argument, "did you mean 'demo'", [] { Config::preset("demmo"); });
  EXPECT_EQ(config.to_toml(), before);
}

TEST(Config, OfAPresetByAnotherMethodIsWhatConfigInitWrites) {
  for (const auto& method : known_methods()) {
    const auto init = with_method(experiment_preset("five"), method.name);
    EXPECT_EQ(Config::preset("five", {{"method.name", method.name}}).to_toml(), to_toml(init)) << method.name;
  }
}

TEST(Config, ListsKeysMethodsAndPresetsThatItTakes) {
  for (const auto& key : known_config_keys()) {
    EXPECT_NO_THROW(Config::preset("five").get(key.name)) << key.name;
    EXPECT_FALSE(key.comment.empty() || key.values.empty() || key.default_value.empty()) << key.name;
  }
  for (const auto& preset : known_presets()) EXPECT_NO_THROW(Config::preset(preset.name)) << preset.name;
  EXPECT_EQ(known_methods().front().name, "dfrost");
}

}  // namespace
}  // namespace dfrost
