#include "config/toml_file.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "config/configs.h"
#include "config/methods.h"
#include "config/presets.h"
#include "config/reference.h"
#include "support/support.h"

namespace dfrost {
namespace {

using test::expect_error;
using test::parse;

bool is_valid(const RunConfig& config) {
  try {
    config.validate();
    return true;
  } catch (const Error&) {
    return false;
  }
}

// A random value that fits with the rest of `config`, if one of a few draws does.
bool draw_valid(const ConfigKey& key, RandomStream& stream, RunConfig& config) {
  for (int draw = 0; draw < 60; ++draw) {
    RunConfig changed = config;
    std::visit(test::DrawValue{changed, stream}, key.field);
    if (same_value(key, changed, config) || !is_valid(changed)) continue;
    config = changed;
    return true;
  }
  return false;
}

void expect_same(const RunConfig& expected, const RunConfig& actual) {
  for (const auto& key : config_keys())
    EXPECT_EQ(toml_value(key, expected), toml_value(key, actual)) << key.full_name();
}

TEST(ConfigFile, AnEmptyOneIsTheDefault) { expect_same(RunConfig{}, parse("")); }

TEST(ConfigFile, EveryKeyCanBeChangedAndReadsBackAsItWasWritten) {
  RandomStream stream(1, "config keys");
  for (const auto& key : config_keys()) {
    RunConfig config;
    if (key.full_name() == "method.round")
      apply_method(config, "d-psgd");  // the other kinds take one plain step
    ASSERT_TRUE(draw_valid(key, stream, config)) << key.full_name();
    const RunConfig read = parse(to_toml(config));
    EXPECT_EQ(toml_value(key, read), toml_value(key, config)) << key.full_name();
    expect_same(config, read);
  }
}

TEST(ConfigFile, WhatIsWrittenReadsBackTheSameForRandomConfigurations) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    RandomStream stream(seed, "config");
    RunConfig config;
    for (const auto& key : config_keys()) draw_valid(key, stream, config);
    const std::string text = to_toml(config);
    EXPECT_EQ(text, to_toml(parse(text)));
    expect_same(config, parse(text));
  }
}

TEST(ConfigFile, AStarterReadsBackTheSameWhateverTheMethod) {
  for (const auto& preset : experiment_presets()) {
    for (const auto& method : method_presets()) {
      RunConfig config = preset.config;
      apply_method(config, method.name);
      for (auto& domain : config.data.domains) {
        if (!domain.path.empty()) domain.path = "/experiments" / domain.path;
      }
      expect_same(config, parse(to_toml(config, TomlStyle::starter)));
    }
  }
}

TEST(ConfigFile, AStarterChangesItsMethodWithOneKey) {
  RunConfig config;
  const auto text = to_toml(config, TomlStyle::starter);
  const RunConfig changed = parse(text, {"method.name=dfedsam+"});
  EXPECT_EQ(changed.train.optimizer.sam_radius, 0.01);
  EXPECT_EQ(changed.prompts.pool, 20u);
  EXPECT_EQ(changed.merge.kind, MergeKind::average);
}

TEST(ConfigFile, KeysWinOverTheMethodWhereverTheyStand) {
  for (const std::string text : {"[train]\nepochs = 3\n[method]\nname = \"d-psgd\"\n",
                                 "[method]\nname = \"d-psgd\"\n[train]\nepochs = 3\n"}) {
    const RunConfig config = parse(text);
    EXPECT_EQ(config.train.epochs, 3u);
    EXPECT_EQ(config.train.optimizer.kind, OptimizerKind::sgd);
  }
}

TEST(ConfigFile, OverridesWinOverKeysAndTheLastOfThemWins) {
  const RunConfig config = parse("[train]\nbatch = 4\n[method]\nname = \"dfedavgm\"\n",
                                 {"train.batch=8", "method.name=d-psgd", "train.batch=9"});
  EXPECT_EQ(config.train.batch, 9u);
  EXPECT_EQ(config.train.epochs, 1u);
}

TEST(ConfigFile, OverridesTakeTomlValuesAndBareWords) {
  const RunConfig config =
      parse("", {"run.name=2024-05-01", "merge.epsilon=2e-2", "network.static=true", "prompts.counts=[3, 2]",
                 "network.topology=\"ring\"", "data.domains=[\"mnist\", {name = \"b\", path = \"/b\"}]",
                 "partition.clients_per_domain=6", "backbone.path=/models/a b.safetensors", "run.seed=0x10"});
  EXPECT_EQ(config.run.name, "2024-05-01");
  EXPECT_EQ(config.merge.epsilon, 0.02);
  EXPECT_TRUE(config.network.topology.is_static);
  EXPECT_EQ(config.prompts.counts, (std::vector<std::size_t>{3, 2}));
  EXPECT_EQ(config.network.topology.kind, TopologyKind::ring);
  ASSERT_EQ(config.data.domains.size(), 2u);
  EXPECT_EQ(config.data.domains[1].path, "/b");
  EXPECT_EQ(config.backbone.path, "/models/a b.safetensors");
  EXPECT_EQ(config.run.seed, 16u);
}

TEST(ConfigFile, AnOverrideCannotSmuggleInASecondKey) {
  expect_error(ErrorCode::invalid_argument, "not a whole number",
               [] { parse("", {"train.batch=8\nother = 1"}); });
}

TEST(ConfigFile, PathsCountFromTheFolderOfTheFileAndNamesStayNames) {
  const RunConfig config = parse(
      "[backbone]\npath = \"../models/vit.safetensors\"\n"
      "[data]\nroot = \"data\"\ndomains = [{name = \"own\", path = \"own\"}, {name = \"abs\", path = "
      "\"/abs\"}]\n"
      "[partition]\nkind = \"file\"\nfile = \"split.csv\"\n");
  EXPECT_EQ(config.backbone.path, "/models/vit.safetensors");
  EXPECT_EQ(config.data.root, "/experiments/data");
  EXPECT_EQ(config.data.domains[0].path, "/experiments/own");
  EXPECT_EQ(config.data.domains[1].path, "/abs");
  EXPECT_EQ(config.partition.file, "/experiments/split.csv");
  EXPECT_EQ(parse("[backbone]\npath = \"deit-tiny\"\n").backbone.path, "deit-tiny");
}

TEST(ConfigFile, FourStandsForTheDomainsAndSizesOfThePaperUnlessSizesAreGiven) {
  const RunConfig config = parse("[data]\ntest_per_domain = 10\ndomains = \"four\"\n");
  EXPECT_EQ(config.data.domains.size(), 4u);
  EXPECT_EQ(config.data.train_per_domain, 30'000u);
  EXPECT_EQ(config.data.test_per_domain, 10u);
  EXPECT_EQ(config.network.topology.degree, 4u);
  EXPECT_EQ(parse("[data]\ndomains = \"five\"\n").network.topology.degree, 5u);
  EXPECT_EQ(parse("[data]\ndomains = \"four\"\n[network]\ndegree = 7\n").network.topology.degree, 7u);
}

TEST(ConfigFile, CentralTrainingNeedsNoPicturesForClientsThatItDoesNotHave) {
  const std::string few =
      "[data]\ntrain_per_domain = 100\n[partition]\nmin_per_client = 33\n[method]\nname = ";
  test::expect_error(ErrorCode::invalid_argument, "need 330", [&] { parse(few + "\"dfrost\"\n"); });
  EXPECT_EQ(parse(few + "\"central\"\n").clients(), 1u);
}

TEST(ConfigFile, HostileTextIsAnErrorWithALine) {
  const std::string deep = "[run]\nname = " + std::string(100'000, '[');
  std::string dotted = "[run]\n";  // a table in a table in a table …
  for (int i = 0; i < 50'000; ++i) dotted += "a.";
  dotted += "a = 1";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"[run]\nseed = 99999999999999999999", "test.toml, line 2"},
      {"[run]\nseed = -1", "-1 is not a whole number, 0 or more"},
      {"[train]\nlearning_rate = nan", "nan is not a number above 0"},
      {"[train]\nlearning_rate = inf", "inf is not a number above 0"},
      {"[prompts]\nsimilarity_weight = -inf", "-inf is not a number"},
      {"[partition]\nclients_per_domain = 9223372036854775807",
       "9223372036854775807 is not a whole number from 1"},
      {"[partition]\nmin_per_client = 9223372036854775807",
       "9223372036854775807 is not a whole number, 0 or more"},
      {deep, "test.toml, line 2"},
      {dotted, "test.toml, line 2"},
      {"[" + dotted.substr(6), "nest deeper than"},
      {"[run]\nname = \"\xff\xfe\"", "test.toml, line 2"},
      {std::string("[run]\nname = \"a\0b\"", 19), "test.toml, line 2"},
      {"[run]\nname = 1979-05-27", "a date or time is not a text"},
      {"[run]\nname = \"a\"\nname = \"b\"", "test.toml, line 3"},
      {"[run.name]\nx = 1", "a table is not a text"},
      {"[[run]]\nseed = 1", "'run' is a section, not a key"},
      {"[prompts]\ncounts = [1, \"2\"]", "'2' is not a whole number"},
      {"[prompts]\ncounts = [[1]]", "this list is not a whole number"},
      {"[data]\ndomains = [5]", "5 is not a domain"},
      {"[data]\ndomains = [{name = 5}]", "5 is not a text, as a domain's name is"},
      {"[data]\ndomains = [{name = \"a\", path = \"b\", train = -5}]", "-5 is not a whole number, 0 or more"},
      {"[data]\ndomains = [{nmae = \"a\"}]", "did you mean 'name'?"},
      {"[data]\ndomains = [{name = \"a\", path = \"b\", format = \"foldr\"}]", "there is no format 'foldr'"},
      {"[data]\ndomains = []", "no domains are named"},
      {"[" + std::string(5'000, 'x') + "]", "there is no section"},
      {"[run]\n" + std::string(5'000, 'x') + " = 1", "there is no key"},
  };
  for (const auto& [text, message] : cases)
    expect_error(ErrorCode::invalid_argument, message, [&, &hostile = text] { parse(hostile); });
}

TEST(ConfigFile, DataCanBeLookedAtWhereTheNetworkDoesNotFit) {
  const std::string text = "[partition]\nclients_per_domain = 1\n";
  expect_error(ErrorCode::invalid_argument, "degree 5 in a network of 5 clients", [&] { parse(text); });
  EXPECT_EQ(parse_config(text, "test.toml", "/", {}, ConfigScope::data).clients(), 5u);
  expect_error(ErrorCode::invalid_argument, "there is no data set 'mnits'", [] {
    parse_config("[data]\ndomains = [\"mnits\"]", "test.toml", "/", {}, ConfigScope::data);
  });
}

TEST(ConfigFile, AFileTooLargeToBeOneIsRefused) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "big.toml", std::string(2u << 20, '#'));
  EXPECT_THROW(load_config(folder / "big.toml"), Error);
}

TEST(ConfigFile, ErrorsThatOnlyTheWholeShowsStillNameTheLine) {
  const auto place_of = [](const std::string& text) {
    try {
      parse(text);
    } catch (const Error& error) {
      return error.place();
    }
    return std::string("no error");
  };
  EXPECT_EQ(place_of("[network]\n\ndegree = 50\n"), "test.toml, line 3, column 10 (network.degree)");
  EXPECT_EQ(place_of("[partition]\nclients_per_domain = 1\n"), "network.degree = 5, by default");
}

TEST(ConfigReference, ExplainsEveryKey) {
  for (const auto& key : config_keys()) {
    const std::string text = explain_key(key);
    EXPECT_NE(text.find(key.full_name()), std::string::npos);
    EXPECT_NE(text.find(toml_value(key, RunConfig{})), std::string::npos);
    EXPECT_FALSE(key.comment.empty()) << key.full_name();
    EXPECT_EQ(key.comment.find('\n'), std::string::npos) << key.full_name();
    EXPECT_EQ(find_config_key(key.full_name()), &key) << "declared twice: " << key.full_name();
  }
}

TEST(ConfigReference, EveryKeyStandsInASectionThatIsWritten) {
  std::size_t written = 0;
  for (const auto& section : config_sections()) {
    for (const auto& key : config_keys()) written += key.section == section.name ? 1 : 0;
  }
  EXPECT_EQ(written, config_keys().size());
}

TEST(ConfigReference, ThePageInTheDocumentationIsUpToDate) {
  const auto page = std::filesystem::path(DFROST_SOURCE_DIR) / "docs/reference/config.md";
  EXPECT_EQ(read_text_file(page), config_reference_page())
      << "run: dfrost config explain --markdown > docs/reference/config.md";
}

}  // namespace
}  // namespace dfrost
