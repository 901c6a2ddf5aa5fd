// Federations around a server: what travels in which direction, by which weights it is merged, and who is
// scored by what.
#include <gtest/gtest.h>

#include "config/methods.h"
#include "network/message.h"
#include "run/server_phases.h"
#include "run/small_simulation.h"
#include "support/support.h"

namespace dfrost {
namespace {

RunConfig served(const std::string& method) {
  auto config = test::small_config();
  apply_method(config, method);
  config.train.epochs = 1;
  config.train.batch = 4;
  config.train.optimizer.learning_rate = 1e-2;
  config.prompts.count = 4;
  return config;
}

std::size_t letter_bytes(const Node& node, const MergeSection& merge, bool with_pictures) {
  auto tensors = tensors_of(node.state);
  std::erase_if(tensors, [&](const auto& tensor) { return !is_shared(tensor.name, merge); });
  const std::vector<float> pictures(1);
  if (with_pictures) tensors.push_back({"pictures", {1}, pictures});
  return encode_message({}, tensors).size();
}

TEST(Server, HandsOutToTheChosenAndCollectsFromThem) {
  for (const std::string method : {"fedavg-pt", "fedprompt"}) {
    auto config = served(method);
    config.network.faults.active_clients = 2;
    auto simulation = test::make_simulation(config);
    const Node first = simulation.nodes().back();
    const auto record = simulation.run_round();
    EXPECT_EQ(record.absent_clients, 4u);
    EXPECT_EQ(record.sent_messages, 4u);  // two down, two up
    EXPECT_EQ(record.sent_bytes,
              2 * (letter_bytes(first, config.merge, false) + letter_bytes(first, config.merge, true)));
    EXPECT_EQ(record.refused_messages + record.missing_messages, 0u);
    EXPECT_NE(simulation.nodes().back().state.values, first.state.values);
  }
}

TEST(Server, OfFedPromptSendsAndReceivesPromptsAlone) {
  auto config = served("fedprompt");
  auto simulation = test::make_simulation(config);
  const auto head_of_server = [&] {
    const auto head = simulation.nodes().back().state.part("head.0.weight");
    return std::vector<float>(head.data(), head.data() + head.rows() * head.cols());
  };
  const auto before = head_of_server();
  const auto small = simulation.run_round().sent_bytes;
  EXPECT_EQ(head_of_server(), before);
  config.merge.head = HeadMerge::average;
  auto all = test::make_simulation(config);
  const auto& parts = all.nodes().back().state.layout;
  EXPECT_GT(all.run_round().sent_bytes,
            small + 12 * sizeof(float) * (parts.size() - parts.at(kPromptPart).size));
}

TEST(Server, WeighsClientsByTheirPictures) {
  auto config = served("fedavg-pt");
  config.partition.kind = PartitionKind::dirichlet;
  config.partition.alpha = 0.5;
  auto simulation = test::make_simulation(config);
  simulation.run_round();
  double pictures = 0;
  for (const auto& own : simulation.partition().clients) pictures += static_cast<double>(own.size());
  const auto& server = simulation.nodes().back().state.values;
  for (std::size_t i = 0; i < server.size(); ++i) {
    double mean = 0;
    for (const auto& client : simulation.clients())
      mean += static_cast<double>(simulation.partition().clients[client.id].size()) / pictures *
              static_cast<double>(client.state.values[i]);
    ASSERT_NEAR(server[i], mean, 1e-6);
  }
}

TEST(Server, ScoresItsOwnStateAndClientsThatKeepAHeadWithTheirs) {
  auto averaged = test::make_simulation(served("fedavg-pt"));
  averaged.run_round();
  averaged.run_round();
  const auto last = averaged.run_round().evaluation;
  ASSERT_TRUE(last);
  EXPECT_EQ(last->accuracy_masked.min, last->accuracy_masked.max);
  EXPECT_DOUBLE_EQ(last->accuracy_masked.mean, last->network_accuracy_masked);
  EXPECT_EQ(averaged.network_model().state.values, averaged.nodes().back().state.values);

  auto config = served("fedprompt");
  config.partition.kind = PartitionKind::extreme;
  config.train.epochs = 4;
  auto kept = test::make_simulation(config);
  for (int round = 0; round < 3; ++round) kept.run_round();
  const auto& client = kept.clients().front();
  const Node model = kept.model_of(client);
  EXPECT_TRUE(std::ranges::equal(model.state.prompts().row(1), kept.nodes().back().state.prompts().row(1)));
  EXPECT_TRUE(std::ranges::equal(model.state.part("head.0.weight").row(0),
                                 client.state.part("head.0.weight").row(0)));
}

TEST(Server, LeavesOutAClientThatItCannotReach) {
  auto config = served("fedavg-pt");
  config.network.faults.link_failure = 0.5;
  auto simulation = test::make_simulation(config);
  const auto untouched = test::make_simulation(config);
  const auto record = simulation.run_round();
  ASSERT_GT(record.failed_edges, 0u);
  EXPECT_EQ(record.sent_messages, 2 * record.edges);
  std::size_t unchanged = 0;
  for (const auto& client : simulation.clients())
    unchanged += client.state.values == untouched.nodes()[client.id].state.values ? 1 : 0;
  EXPECT_EQ(unchanged, record.failed_edges);
}

TEST(Server, GoesOnAfterAStopAndOnAnyThreadsWithTheSameBytes) {
  for (const std::string method : {"fedavg-pt", "fedprompt"}) {
    auto config = served(method);
    config.network.faults.active_clients = 4;
    auto whole = test::make_simulation(config), stopped = test::make_simulation(config);
    for (int round = 0; round < 3; ++round) whole.run_round();
    stopped.run_round();
    stopped.run_round();
    config.run.threads = 3;
    auto resumed = test::make_simulation(config);
    resumed.restore(2, stopped.state());
    resumed.run_round();
    EXPECT_EQ(resumed.state(), whole.state());
    EXPECT_EQ(resumed.network_model().state.values, whole.network_model().state.values);
  }
}

TEST(Server, MergesByTransportToo) {
  auto config = served("fedavg-pt");
  config.merge.kind = MergeKind::ot;
  config.merge.lambda = 0;
  config.prompts.init = PromptInit::independent;
  auto simulation = test::make_simulation(config);
  const auto record = simulation.run_round();
  EXPECT_GT(record.merge_error, 0);
  ASSERT_TRUE(record.theory);
  EXPECT_EQ(record.theory->checked, 1u);
  EXPECT_EQ(record.theory->violated, 0u);
}

TEST(Server, RefusesWhatNeedsNeighbours) {
  auto config = served("fedavg-pt");
  apply_method(config, "d2");
  config.method.cooperation = Cooperation::server;
  test::expect_error(ErrorCode::invalid_argument, "clients of a server have none",
                     [&] { config.validate(); });
  config = served("fedavg-pt");
  config.prompts.counts = {4, 4};
  test::expect_error(ErrorCode::invalid_argument, "hold the prompts that it hands out",
                     [&] { config.validate(); });
  config = served("fedavg-pt");
  config.merge.head = HeadMerge::class_mass;
  test::expect_error(ErrorCode::invalid_argument, "not yet by pictures of each class",
                     [&] { config.validate(); });
  config = served("fedavg-pt");
  config.train.frame.coordinates = HeadCoordinates::whitened;
  test::expect_error(ErrorCode::invalid_argument, "those of a server have none", [&] { config.validate(); });
}

}  // namespace
}  // namespace dfrost
