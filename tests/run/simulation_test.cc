#include "run/simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "config/methods.h"
#include "measure/mixing_factor.h"
#include "run/small_simulation.h"
#include "support/support.h"

namespace dfrost {
namespace {

using test::make_simulation;
using test::small_config;

void expect_theory_holds(const RoundRecord& record) {
  EXPECT_TRUE(!record.theory || record.theory->violated == 0) << "round " << record.round;
}

std::vector<float> values_after(const RunConfig& config, std::size_t rounds) {
  auto federation = make_simulation(config);
  for (std::size_t r = 0; r < rounds; ++r) expect_theory_holds(federation.run_round());
  return federation.state().values;
}

TEST(Simulation, LearnsAndItsTheoryChecksHold) {
  auto config = small_config();
  config.train.epochs = 4;
  auto federation = make_simulation(config);
  const auto first = federation.run_round();
  auto last = federation.run_round();
  for (int i = 0; i < 4; ++i) last = federation.run_round();
  EXPECT_LT(last.train_loss, 0.7 * first.train_loss);
  ASSERT_TRUE(last.evaluation);
  EXPECT_GT(last.evaluation->accuracy_masked.mean, 0.5);  // chance is a third
  EXPECT_GE(last.evaluation->accuracy_masked.mean, last.evaluation->accuracy_unmasked.mean);
  EXPECT_EQ(last.evaluation->samples, 24u);
  ASSERT_TRUE(last.theory);
  EXPECT_EQ(last.theory->checked, 6u);
  EXPECT_EQ(last.theory->violated, 0u);
}

TEST(Simulation, GivesTheSameBytesAtAnyNumberOfThreads) {
  auto config = small_config();
  const auto expected = values_after(config, 2);
  for (const std::size_t threads : {2, 5}) {
    config.run.threads = threads;
    EXPECT_EQ(values_after(config, 2), expected) << threads << " threads";
  }
}

TEST(Simulation, GoesOnFromSavedValuesAsIfNeverStopped) {
  const auto config = small_config();
  auto whole = make_simulation(config);
  whole.run_round();
  const auto saved = whole.state();
  whole.run_round();
  auto resumed = make_simulation(config);
  resumed.restore(1, saved);
  resumed.run_round();
  EXPECT_EQ(resumed.state(), whole.state());
  EXPECT_EQ(resumed.network_model().state.values, whole.network_model().state.values);
  auto shorter = saved;
  shorter.values.resize(10);
  test::expect_error(ErrorCode::data_loss, "too few values", [&] { resumed.restore(1, shorter); });
}

TEST(Simulation, OfEveryMethodGoesOnAfterAStopAndOnAnyThreadsWithTheSameBytes) {
  for (const auto& method : method_presets()) {
    SCOPED_TRACE(method.name);
    auto config = small_config();
    apply_method(config, method.name);
    if (config.prompts.count != 0) config.prompts.count = 4;
    if (config.prompts.pool != 0) config.prompts.pool = 6;
    if (config.head.kind == HeadKind::mlp) config.head.hidden = {5};
    config.train.epochs = 1;
    config.ntk.steps = {5, 20};
    config.merge.pool.passes = 3;
    auto whole = make_simulation(config), stopped = make_simulation(config);
    for (int round = 0; round < 3; ++round) whole.run_round();
    stopped.run_round();
    config.run.threads = 3;
    auto resumed = make_simulation(config);
    resumed.restore(1, stopped.state());
    resumed.run_round();
    resumed.run_round();
    EXPECT_EQ(resumed.state(), whole.state());
  }
}

TEST(Simulation, AveragingOverAFullGraphMakesAllClientsEqual) {
  auto config = small_config();
  config.network.topology.kind = TopologyKind::full;
  config.merge.kind = MergeKind::average;
  auto federation = make_simulation(config);
  const auto record = federation.run_round();
  for (const auto& client : federation.clients()) {
    for (std::size_t i = 0; i < client.state.values.size(); ++i) {
      ASSERT_NEAR(client.state.values[i], federation.clients().front().state.values[i], 1e-6);
    }
  }
  EXPECT_LT(record.consensus_error, 1e-10);
  EXPECT_EQ(record.off_index_mass, 0);
  EXPECT_NEAR(record.mixing_factor, 0, 1e-12);
  EXPECT_EQ(record.sent_messages, 30u);
}

TEST(Simulation, IsolatedClientsKeepTraining) {
  auto config = small_config();
  config.method.cooperation = Cooperation::none;
  auto federation = make_simulation(config);
  const auto before = federation.state().values;
  const auto record = federation.run_round();
  EXPECT_NE(federation.state().values, before);
  EXPECT_EQ(record.sent_messages, 0u);
  EXPECT_EQ(record.mixing_factor, 1);
}

TEST(Simulation, OfOneWorks) {
  auto config = small_config();
  config.method.cooperation = Cooperation::central;
  auto federation = make_simulation(config);
  ASSERT_EQ(federation.clients().size(), 1u);
  EXPECT_EQ(federation.partition().clients.front().size(), 72u);
  const auto record = federation.run_round();
  EXPECT_EQ(record.images, 72u);
  EXPECT_EQ(record.sent_bytes, 0u);
}

TEST(Simulation, WithoutPeersLooksAtNothingOfTheNetwork) {
  for (const auto cooperation : {Cooperation::none, Cooperation::central}) {
    auto config = small_config();
    config.method.cooperation = cooperation;
    const auto expected = values_after(config, 1);
    config.network.topology = {.kind = TopologyKind::file, .file = "no such file"};
    config.network.faults = {.link_failure = 0.5, .active_clients = 1'000};
    config.validate();
    EXPECT_EQ(values_after(config, 1), expected) << to_string(cooperation);
  }
}

TEST(Simulation, TakesNoLossFromClientsWithoutPictures) {
  auto config = small_config();
  config.partition.kind = PartitionKind::extreme;  // 4 clients for 3 classes of a picture each: one has none
  config.partition.clients_per_domain = 4;
  config.partition.min_per_client = 0;
  config.partition.designated_share = 1;
  Preprocessing how;
  how.resize = how.crop = test::tiny_backbone().geometry().image_size;
  Simulation federation(config, test::tiny_backbone(), how, test::coloured_squares(1, 1));
  const auto empty = std::ranges::count_if(federation.partition().clients,
                                           [](const auto& client) { return client.empty(); });
  ASSERT_EQ(empty, 2);
  // Untrained heads know nothing: the loss of each of the six others is about log 3.
  EXPECT_NEAR(federation.run_round().train_loss, std::log(3.0), 0.25);
}

TEST(Simulation, AbsentClientsKeepTheirState) {
  auto config = small_config();
  config.network.faults.active_clients = 2;
  auto federation = make_simulation(config);
  std::vector<std::vector<float>> before;
  for (const auto& client : federation.clients()) before.push_back(client.state.values);
  const auto record = federation.run_round();
  EXPECT_EQ(record.absent_clients, 4u);
  std::size_t unchanged = 0;
  for (std::size_t u = 0; u < before.size(); ++u) {
    unchanged += federation.clients()[u].state.values == before[u] ? 1 : 0;
  }
  EXPECT_EQ(unchanged, 4u);
}

TEST(Simulation, ADivergedClientKeepsTheStateItHad) {
  auto config = small_config();
  config.method.cooperation = Cooperation::none;
  config.train.optimizer.learning_rate = 1e37;
  auto federation = make_simulation(config);
  const auto before = federation.state().values;
  const auto record = federation.run_round();
  EXPECT_EQ(record.diverged_clients, 6u);
  EXPECT_EQ(federation.state().values, before);
  EXPECT_TRUE(std::isnan(record.train_loss));
}

TEST(Simulation, RecordsTheErrorOfConsensusAsTheMeanAndAsTheSumOverClients) {
  auto federation = make_simulation(small_config());
  const auto record = federation.run_round();
  EXPECT_GT(record.consensus_error, 0);
  EXPECT_DOUBLE_EQ(record.consensus_error_total, 6 * record.consensus_error);
}

TEST(Simulation, RecordsHowWellThoseMixThatTakePart) {
  auto config = small_config();
  config.network.faults.active_clients = 4;
  auto federation = make_simulation(config);
  for (std::size_t round = 1; round <= 2; ++round) {
    const auto record = federation.run_round();
    const auto network = draw_round(federation.topology(), config.network.faults, round);
    EXPECT_EQ(record.active_mixing_factor, mixing_factor(MixingMatrix(network.graph_of_active())));
    EXPECT_NEAR(record.active_mixing_factor, 1.0 / 3, 1e-12);  // a ring of four
    EXPECT_EQ(record.mixing_factor, 1);                        // nothing reaches the two others
  }
}

TEST(Simulation, GivesFirstPromptsOfTheirOwnToWhoComesLateAndToAFederationThatIsMetLater) {
  const auto prompts = [](const Simulation& federation, std::size_t client) {
    const auto rows = federation.nodes()[client].state.prompts();
    return std::vector<float>(rows.data(), rows.data() + rows.rows() * rows.cols());
  };
  auto config = small_config();
  config.prompts.init = PromptInit::shared;
  const auto usual = prompts(make_simulation(config), 0);
  config.network.faults = {.late_clients = 2, .join_round = 3};
  const auto late = late_clients(config.network.faults, 6, config.run.seed);
  const auto joining = make_simulation(config);
  for (std::size_t client = 0; client < 6; ++client)
    EXPECT_EQ(prompts(joining, client) == usual, !late[client]) << client;
  config.network.faults = {.meet_round = 2};
  const auto meeting = make_simulation(config);
  for (std::size_t client = 0; client < 6; ++client) {
    EXPECT_EQ(prompts(meeting, client) == usual, client % 2 == 0);
    EXPECT_EQ(prompts(meeting, client), prompts(meeting, client % 2));
  }
}

TEST(Simulation, LeavesWhoComesLateAsItWasUntilItJoins) {
  auto config = small_config();
  config.network.faults = {.late_clients = 2, .join_round = 2};
  const auto late = late_clients(config.network.faults, 6, config.run.seed);
  auto federation = make_simulation(config);
  std::vector<std::vector<float>> before;
  for (std::size_t client = 0; client < 6; ++client)
    before.push_back(federation.nodes()[client].state.values);
  federation.run_round();
  for (std::size_t client = 0; client < 6; ++client)
    EXPECT_EQ(federation.nodes()[client].state.values == before[client], late[client]);
  federation.run_round();
  for (std::size_t client = 0; client < 6; ++client)
    EXPECT_NE(federation.nodes()[client].state.values, before[client]);
}

TEST(Simulation, MissesNoMessageOfALinkThatFailed) {
  auto config = small_config();
  config.network.topology.kind = TopologyKind::full;
  config.network.faults.link_failure = 0.5;
  auto federation = make_simulation(config);
  const auto record = federation.run_round();
  EXPECT_GT(record.failed_edges, 0u);
  EXPECT_EQ(record.edges + record.failed_edges, 15u);
  EXPECT_EQ(record.sent_messages, 2 * record.edges);
  EXPECT_EQ(record.missing_messages, 0u);
  EXPECT_EQ(record.refused_messages, 0u);
}

TEST(Simulation, CountsDeadPromptsWhateverIsDoneWithThem) {
  for (const auto dead : {DeadPrompts::paper, DeadPrompts::keep, DeadPrompts::reseed}) {
    auto config = small_config();
    config.train.optimizer.learning_rate = 0.5;  // far from where the round began,
    config.merge.init = MergeInit::previous;     // which is where the merge starts
    config.merge.dead = dead;
    auto federation = make_simulation(config);
    EXPECT_GT(federation.run_round().dead_prompts, 0u) << static_cast<int>(dead);
  }
}

TEST(Simulation, MergesClientsWithDifferentNumbersOfPrompts) {
  auto config = small_config();
  config.prompts.counts = {4, 2, 3};
  auto federation = make_simulation(config);
  federation.run_round();
  EXPECT_EQ(federation.clients()[0].state.prompts().rows(), 4u);
  EXPECT_EQ(federation.clients()[1].state.prompts().rows(), 2u);
  EXPECT_EQ(federation.clients()[5].state.prompts().rows(), 3u);
}

TEST(Simulation, CountsWhatItSendsTruly) {
  auto federation = make_simulation(small_config());
  const auto record = federation.run_round();
  // A ring of six: two messages each, as long as a message of this state is.
  const auto one = encode_message({}, tensors_of(federation.clients().front().state)).size();
  EXPECT_EQ(record.sent_messages, 12u);
  EXPECT_EQ(record.sent_bytes, 12 * one);
}

TEST(Simulation, RefusesANetworkThatCannotBe) {
  auto config = small_config();
  config.network.topology = {.kind = TopologyKind::regular, .degree = 6};
  test::expect_error(ErrorCode::invalid_argument, "6", [&] { make_simulation(config); });
}

}  // namespace
}  // namespace dfrost
