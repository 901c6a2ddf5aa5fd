// Records from reports made by hand, whose figures can be worked out on paper.
#include "run/round_tally.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "measure/evaluation.h"
#include "records/record_json.h"

namespace dfrost {
namespace {

TEST(RoundTally, CountsLinksThatWorkThatFailedAndWhoWasAbsent) {
  RoundNetwork network;
  network.graph = Graph(5, {{0, 1}, {1, 2}});
  network.active = {true, true, true, true, false};
  network.failed = {{0, 2}, {2, 3}, {1, 3}};
  RoundRecord record;
  tally_network(network, record);
  EXPECT_EQ(record.edges, 2u);
  EXPECT_EQ(record.failed_edges, 3u);
  EXPECT_EQ(record.absent_clients, 1u);
  ASSERT_TRUE(record.graph);
  EXPECT_EQ(record.graph->links, network.graph.edges());
  EXPECT_EQ(record.graph->failed, network.failed);
  EXPECT_EQ(record.graph->absent, std::vector<ClientId>{4});
}

TEST(RoundTally, DrawsNoGraphOfMoreThanFiveHundredClients) {
  for (const std::size_t clients : {500, 501}) {
    RoundNetwork network;
    network.graph = Graph(clients, {{0, 1}});
    network.active.assign(clients, true);
    RoundRecord record;
    tally_network(network, record);
    EXPECT_EQ(record.edges, 1u);
    EXPECT_EQ(record.graph.has_value(), clients == 500);
  }
}

TEST(RoundTally, TakesTheLossOfThoseThatTrainedAndDidNotDiverge) {
  const std::vector<NodeReport> reports = {
      {.train = {.loss = 1, .images = 10}},
      {},  // absent
      {.train = {.loss = std::numeric_limits<double>::quiet_NaN(), .images = 7, .diverged = true}},
      {.train = {.loss = 4, .images = 2}},
      {.train = {.loss = 1e30, .images = 3, .diverged = true}}};
  RoundRecord record;
  tally_training(reports, record);
  EXPECT_EQ(record.train_loss, 2.5);
  EXPECT_EQ(record.images, 22u);
  EXPECT_EQ(record.diverged_clients, 2u);
  RoundRecord of_nobody;
  tally_training(std::span(reports).subspan(1, 2), of_nobody);
  EXPECT_TRUE(std::isnan(of_nobody.train_loss));
}

TEST(RoundTally, AveragesOverMergesAndAddsUpWhatIsCounted) {
  std::vector<NodeReport> reports(4);
  reports[0] = {.merge = {.merged = true, .off_index_mass = 0.5, .error = 3, .dead_prompts = 2},
                .refused = 1,
                .missing = 2};
  reports[1] = {.refused = 3, .missing = 4};  // heard nobody: no merge
  reports[2].merge = {.merged = true, .off_index_mass = 0.25, .error = 5, .dead_prompts = 1};
  reports[2].merge.view.emplace().round = 9;
  RoundRecord record;
  tally_exchange(reports, 1, record);
  EXPECT_EQ(record.off_index_mass, 0.375);
  EXPECT_EQ(record.merge_error, 4);
  EXPECT_EQ(record.dead_prompts, 3u);
  EXPECT_EQ(record.refused_messages, 4u);
  EXPECT_EQ(record.missing_messages, 6u);
  ASSERT_EQ(record.merge_views.size(), 1u);
  EXPECT_EQ(record.merge_views.front().round, 9u);
}

TEST(RoundTally, WithoutAMergeThereIsNothingToAverage) {
  std::vector<NodeReport> reports(3);
  RoundRecord record;
  tally_exchange(reports, 1, record);
  EXPECT_TRUE(std::isnan(record.off_index_mass));
  EXPECT_TRUE(std::isnan(record.merge_error));
  EXPECT_EQ(nlohmann::json::parse(to_json(record).dump())["merge_error"], nullptr);
  EXPECT_EQ(record.seconds.total(), 0);
  EXPECT_EQ(tally_theory(reports).checked, 0u);
}

TEST(RoundTally, SplitsTheWallClockByWhatTheStagesTookOnTheirThreads) {
  std::vector<NodeReport> reports(2);
  reports[0] = {.merge = {.merged = true, .merge_seconds = 3, .measure_seconds = 4}, .exchange_seconds = 1};
  reports[1] = {.merge = {.merged = true, .merge_seconds = 5, .measure_seconds = 6}, .exchange_seconds = 1};
  RoundRecord record;
  record.seconds = {.train = 7, .exchange = 0.5, .merge = 0, .evaluate = 0, .measure = 0.25};
  tally_exchange(reports, 10, record);  // 20 seconds of threads in 10 of the wall clock
  EXPECT_EQ(record.seconds.train, 7);
  EXPECT_EQ(record.seconds.exchange, 0.5 + 1);
  EXPECT_EQ(record.seconds.merge, 4);
  EXPECT_EQ(record.seconds.measure, 0.25 + 5);
  EXPECT_EQ(record.seconds.total(), 7 + 0.5 + 0.25 + 10);
}

TEST(RoundTally, FindsTheMergeNearestToTheBoundOfTheTheorem) {
  std::vector<NodeReport> reports(4);
  reports[0].merge = {.merged = true, .theorem = {.bound = 8, .smallest_delta = 2, .held = true}};
  reports[1].merge = {.merged = false, .theorem = {.bound = 1, .smallest_delta = 9, .held = false}};
  reports[2].merge = {.merged = true, .theorem = {.bound = 2, .smallest_delta = 3, .held = false}};
  reports[3].merge = {
      .merged = true,
      .theorem = {.bound = std::numeric_limits<double>::infinity(), .smallest_delta = 5, .held = true}};
  const auto theory = tally_theory(reports);
  EXPECT_EQ(theory.checked, 3u);
  EXPECT_EQ(theory.violated, 1u);
  EXPECT_EQ(theory.largest_ratio, 1.5);
}

TEST(Spread, OfKnownNumbersIsWhatTheyGiveOnPaper) {
  const auto spread = spread_of({2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_DOUBLE_EQ(spread.mean, 5);
  EXPECT_DOUBLE_EQ(spread.std, 2);  // divided by eight, not by seven
  EXPECT_EQ(spread.min, 2);
  EXPECT_EQ(spread.max, 9);
  EXPECT_EQ(spread_of({3}).std, 0);
  EXPECT_EQ(spread_of({}).mean, 0);
}

Score score_of(std::size_t samples, std::size_t masked, std::size_t unmasked, double loss_sum) {
  return {.samples = samples, .correct_masked = masked, .correct_unmasked = unmasked, .loss_sum = loss_sum};
}

TEST(Scores, AreAveragedOverClientsAndKeptApartByDomainAndFromTheNetworkModel) {
  Corpus corpus;
  corpus.domains.resize(2);
  corpus.domains[0].name = "warm";
  corpus.domains[1].name = "cold";
  const std::vector<Evaluation> scores = {
      {{score_of(4, 4, 2, 8), score_of(12, 6, 0, 8)}},
      {{score_of(4, 2, 1, 16), score_of(12, 0, 0, 32)}},
      {{score_of(4, 3, 1, 4), score_of(12, 9, 3, 12)}}};  // the network model
  const auto record = summarize_scores(corpus, {3, 8}, 16, scores);
  EXPECT_EQ(record.clients, (std::vector<std::size_t>{3, 8}));
  EXPECT_EQ(record.samples, 16u);
  EXPECT_EQ(record.accuracy_masked.mean, 0.375);  // 10 and 2 of 16
  EXPECT_EQ(record.accuracy_masked.std, 0.25);
  EXPECT_EQ(record.accuracy_unmasked.max, 0.125);
  EXPECT_EQ(record.loss, 2);  // 1 and 3
  ASSERT_EQ(record.domains.size(), 2u);
  EXPECT_EQ(record.domains[0].name, "warm");
  EXPECT_EQ(record.domains[0].masked, 0.75);
  EXPECT_EQ(record.domains[0].unmasked, 0.375);
  EXPECT_EQ(record.domains[1].name, "cold");
  EXPECT_EQ(record.domains[1].masked, 0.25);
  EXPECT_EQ(record.domains[1].unmasked, 0);
  EXPECT_EQ(record.network_accuracy_masked, 0.75);
  EXPECT_EQ(record.network_accuracy_unmasked, 0.25);
  EXPECT_EQ(record.network_loss, 1);
  EXPECT_EQ(record.network_domains[1].masked, 0.75);
  EXPECT_EQ(record.network_domains[1].unmasked, 0.25);
}

TEST(RecordJson, WritesEveryFigureUnderItsOwnName) {
  RoundRecord record;
  record.round = 1;
  record.train_loss = 2;
  record.images = 3;
  record.diverged_clients = 4;
  record.consensus_error = 5;
  record.consensus_error_total = 6;
  record.consensus_error_gain = 6.25;
  record.consensus_error_floor = 6.5;
  record.merge_error = 7;
  record.off_index_mass = 8;
  record.dead_prompts = 9;
  record.prompts_per_client = 9.5;
  record.dropped_prompts = 90;
  record.mixing_factor = 10;
  record.active_mixing_factor = 11;
  record.mixing_factor_error = 11.5;
  record.edges = 12;
  record.failed_edges = 13;
  record.absent_clients = 14;
  record.sent_bytes = 15;
  record.sent_messages = 16;
  record.refused_messages = 17;
  record.missing_messages = 18;
  record.seconds = {.train = 19, .exchange = 20, .merge = 21, .evaluate = 22, .measure = 23};
  record.theory = {.checked = 24, .violated = 25, .largest_ratio = 26};
  record.graph = {.links = {{0, 1}}, .failed = {{1, 2}}, .absent = {3}};
  const auto expected = nlohmann::ordered_json::parse(R"({
    "schema": 1, "round": 1, "train_loss": 2, "images": 3, "diverged_clients": 4, "consensus_error": 5,
    "consensus_error_total": 6, "consensus_error_gain": 6.25, "consensus_error_floor": 6.5, "merge_error": 7, "off_index_mass": 8, "dead_prompts": 9,
    "prompts_per_client": 9.5, "dropped_prompts": 90, "mixing_factor": 10,
    "active_mixing_factor": 11, "mixing_factor_error": 11.5, "edges": 12, "failed_edges": 13, "absent_clients": 14, "sent_bytes": 15,
    "sent_messages": 16, "refused_messages": 17, "missing_messages": 18,
    "seconds": {"train": 19, "exchange": 20, "merge": 21, "evaluate": 22, "measure": 23, "total": 105},
    "graph": {"links": [[0, 1]], "failed": [[1, 2]], "absent": [3]},
    "theory": {"checked": 24, "violated": 25, "largest_ratio": 26}})");
  EXPECT_EQ(nlohmann::json(to_json(record)), nlohmann::json(expected));
}

}  // namespace
}  // namespace dfrost
