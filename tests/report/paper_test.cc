#include "report/paper.h"

#include <gtest/gtest.h>

#include "config/methods.h"
#include "config/presets.h"
#include "config/toml_file.h"

namespace dfrost {
namespace {

Json about_of(const RunConfig& config) {
  Json domains = Json::array();
  for (const auto& domain : config.data.domains) {
    domains.push_back({{"name", domain.name},
                       {"train", config.data.train_per_domain},
                       {"test", config.data.test_per_domain}});
  }
  return {{"backbone", {{"width", 768}, {"depth", 12}, {"patch", 32}, {"image_size", 224}}},
          {"domains", domains}};
}

std::optional<PaperFigure> figure_of(const RunConfig& config) {
  return paper_figure(*parse_settings(to_toml(config)), about_of(config));
}

RunConfig setting(const std::string& data, const std::string& method) {
  RunConfig config = experiment_preset(data).config;
  apply_method(config, method);
  return config;
}

const std::vector<std::string> kMethods = {"d-psgd", "dfedsam", "dfedavgm", "dfrost"};

// The tables, written down once more.
TEST(PaperFigure, IsFoundForEveryCellOfTheMainTable) {
  const double expected[4][6] = {{23.23, 18.14, 9.92, 24.47, 21.45, 12.38},
                                 {70.31, 66.74, 45.29, 62.30, 59.49, 43.29},
                                 {75.28, 70.88, 51.89, 63.28, 59.72, 46.05},
                                 {81.95, 79.36, 70.46, 69.06, 63.94, 58.24}};
  for (std::size_t m = 0; m < 4; ++m) {
    for (std::size_t column = 0; column < 6; ++column) {
      RunConfig config = setting(column < 3 ? "five" : "four", kMethods[m]);
      if (column % 3 == 1) config.partition.alpha = 0.1;
      if (column % 3 == 2) config.partition.kind = PartitionKind::extreme;
      const auto figure = figure_of(config);
      ASSERT_TRUE(figure) << kMethods[m] << " column " << column;
      EXPECT_EQ(figure->accuracy, expected[m][column]) << figure->setting;
    }
  }
}

TEST(PaperFigure, IsFoundForEveryTopology) {
  const std::vector<std::pair<TopologyKind, std::vector<double>>> expected = {
      {TopologyKind::ring, {16.42, 64.21, 67.37, 75.88}},
      {TopologyKind::grid, {17.69, 65.85, 68.57, 77.84}},
      {TopologyKind::erdos_renyi, {18.29, 65.97, 70.64, 78.96}},
      {TopologyKind::regular, {18.14, 66.74, 70.88, 79.36}},
      {TopologyKind::full, {19.00, 69.80, 72.74, 82.28}}};
  for (const auto& [kind, accuracies] : expected) {
    for (std::size_t m = 0; m < 4; ++m) {
      RunConfig config = setting("five", kMethods[m]);
      config.partition.alpha = 0.1;
      config.network.topology.kind = kind;
      ASSERT_TRUE(figure_of(config));
      EXPECT_EQ(figure_of(config)->accuracy, accuracies[m]);
    }
  }
}

TEST(PaperFigure, IsFoundForTheAblationsThatStateANumber) {
  RunConfig config = setting("five", "dfrost");
  config.partition.alpha = 0.1;
  config.network.faults.link_failure = 0.4;
  EXPECT_EQ(figure_of(config)->accuracy, 77.29);
  config.network.faults = {.link_failure = 0, .active_clients = 10};
  EXPECT_EQ(figure_of(config)->accuracy, 64.88);
  EXPECT_EQ(figure_of(config)->setting, "FiveDataset, Dirichlet 0.1, regular, 10 of 50 clients");
  config = setting("five", "dfrost");
  config.partition.kind = PartitionKind::extreme;
  config.prompts.count = 5;
  EXPECT_EQ(figure_of(config)->accuracy, 63.35);
}

TEST(PaperFigure, IsNotClaimedForAnotherSetting) {
  const std::vector<std::function<void(RunConfig&)>> changes = {
      [](RunConfig& c) { c.run.rounds = 20; },
      [](RunConfig& c) { c.partition.alpha = 0.3; },
      [](RunConfig& c) { c.merge.kind = MergeKind::average; },
      [](RunConfig& c) { c.merge.epsilon = 0.1; },
      [](RunConfig& c) { c.train.epochs = 1; },
      [](RunConfig& c) { c.train.max_steps = 1; },
      [](RunConfig& c) { c.network.topology.degree = 4; },
      [](RunConfig& c) { c.network.faults.link_failure = 0.1; },
      [](RunConfig& c) { c.data.train_per_domain = 2000; },
      [](RunConfig& c) { c.data.domains.pop_back(); },
      [](RunConfig& c) { c.evaluate.clients = 8; },
      [](RunConfig& c) { c.evaluate.samples = 200; },
      [](RunConfig& c) { apply_method(c, "dfrost+"); },
      [](RunConfig& c) { apply_method(c, "local"); },
  };
  ASSERT_TRUE(figure_of(setting("five", "dfrost")));
  for (std::size_t i = 0; i < changes.size(); ++i) {
    RunConfig config = setting("five", "dfrost");
    changes[i](config);
    EXPECT_FALSE(figure_of(config)) << "change " << i;
  }
  const RunConfig config = setting("five", "dfrost");
  Json about = about_of(config);
  about["backbone"]["width"] = 192;
  EXPECT_FALSE(paper_figure(*parse_settings(to_toml(config)), about));
  EXPECT_FALSE(paper_figure(*parse_settings(to_toml(config)), Json()));
}

}  // namespace
}  // namespace dfrost
