// [privacy] in whole federations: what is sent, the account that is kept of it, and what is refused.
#include <gtest/gtest.h>

#include <cmath>

#include "config/methods.h"
#include "records/record_json.h"
#include "run/private_round.h"
#include "run/small_experiment.h"
#include "run/small_simulation.h"
#include "run/state_merge.h"

namespace dfrost {
namespace {

RunConfig private_config(PrivacyKind kind) {
  auto config = test::small_config();
  config.privacy = {.kind = kind, .clip = 0.5, .noise = 0.8};
  config.partition.kind = PartitionKind::dirichlet;  // clients of different sizes
  config.partition.alpha = 0.5;
  config.partition.min_per_client = 3;
  return config;
}

constexpr PrivacyKind kKinds[] = {PrivacyKind::examples, PrivacyKind::client};

// What a client has sent, its state before it merged, less what its round began with.
double way_of(const Node& client, std::span<const float> start) {
  const auto& sent = client.memory.find(kLastGood)->second.values;
  double square = 0;
  for (std::size_t i = 0; i < start.size(); ++i)
    square += std::pow(static_cast<double>(sent[i]) - static_cast<double>(start[i]), 2);
  return std::sqrt(square);
}

std::vector<std::vector<float>> states_of(const Simulation& federation) {
  std::vector<std::vector<float>> all;
  for (const auto& client : federation.clients()) all.push_back(client.state.values);
  return all;
}

TEST(PrivateRun, SendsUpdatesOfAClientThatAreNoLongerThanTheClip) {
  auto config = private_config(PrivacyKind::client);
  config.privacy.clip = 0.02;
  config.privacy.noise = 1e-4;  // next to none, so that lengths can be seen
  auto federation = test::make_simulation(config);
  for (int round = 0; round < 2; ++round) {
    const auto start = states_of(federation);
    federation.run_round();
    for (const auto& client : federation.clients())
      EXPECT_NEAR(way_of(client, start[client.id]), 0.02, 0.001);  // all are cut: they would go much further
  }
  config.privacy = {};
  auto free = test::make_simulation(config);
  const auto start = states_of(free);
  free.run_round();
  for (const auto& client : free.clients()) EXPECT_GT(way_of(client, start[client.id]), 0.04);
}

TEST(PrivateRun, NoisesEveryValueThatAClientSends) {
  auto config = private_config(PrivacyKind::client);
  config.privacy = {
      .kind = PrivacyKind::client, .clip = 1e-6, .noise = 1e6};  // nothing but noise, of deviation 1
  auto federation = test::make_simulation(config);
  const auto start = states_of(federation);
  federation.run_round();
  for (const auto& client : federation.clients()) {
    const auto values = static_cast<double>(client.state.values.size());
    EXPECT_NEAR(way_of(client, start[client.id]) / std::sqrt(values), 1, 6 / std::sqrt(2 * values));
  }
}

TEST(PrivateRun, EndsWithTheSameBytesOnAnyThreadsAndAfterAStop) {
  for (const auto kind : kKinds) {
    test::SmallExperiment whole;
    whole.config.privacy = {.kind = kind, .clip = 0.5, .target_epsilon = 5};
    whole.config.network.faults.active_clients = 3;
    auto broken = whole.config;
    test::StoppingObserver observer;
    const auto expected = whole.run(observer);
    test::StoppingObserver stopping(2);
    const auto folder = whole.folder / "runs/broken";
    EXPECT_THROW(run_experiment(broken, {folder, false}, stopping), Error);
    broken.run.threads = 3;
    const auto resumed = run_experiment(broken, {folder, true}, observer);
    for (const char* file : {"adapter/network.safetensors", "adapter/client-003.safetensors"})
      EXPECT_EQ(read_text_file(folder / file), read_text_file(whole.run_folder() / file)) << to_string(kind);
    EXPECT_EQ(resumed.last.privacy->clients, expected.last.privacy->clients);
    // A target is one of all rounds: what began with its noise cannot be made longer.
    broken.run.rounds = 5;
    test::expect_error(ErrorCode::failed_precondition, "run.rounds", [&] {
      run_experiment(broken, {folder, true}, observer);
    });
  }
}

TEST(PrivateRun, KeepsAnAccountOfEveryStepThatAClientTook) {
  auto config = private_config(PrivacyKind::examples);
  config.train.epochs = 2;
  config.network.faults.active_clients = 4;  // of six
  auto federation = test::make_simulation(config);
  std::vector<double> rounds(6, 0.0);
  for (int round = 1; round <= 4; ++round) {
    const auto before = states_of(federation);
    const auto record = federation.run_round();
    ASSERT_TRUE(record.privacy);
    ASSERT_EQ(record.privacy->clients.size(), 6u);
    double largest = 0;
    for (std::size_t u = 0; u < 6; ++u) {
      if (states_of(federation)[u] != before[u]) ++rounds[u];
      const std::size_t pictures = federation.partition().clients[u].size();
      const GaussianSteps taken{sampling_rate(4, pictures), config.privacy.noise,
                                rounds[u] * 2 * std::ceil(static_cast<double>(pictures) / 4)};
      const double expected = epsilon_of(std::span(&taken, 1), config.privacy.delta);
      EXPECT_NEAR(record.privacy->clients[u], expected, 1e-5 * expected) << "client " << u;
      largest = std::max(largest, record.privacy->clients[u]);
    }
    EXPECT_EQ(record.privacy->epsilon, largest);
    const auto json = to_json(record);
    EXPECT_EQ(json["privacy"]["epsilon"].get<double>(), largest);
    EXPECT_EQ(json["privacy"]["delta"].get<double>(), 1e-5);
    EXPECT_EQ(json["privacy"]["clients"].size(), 6u);
  }
}

TEST(PrivateRun, CountsAClientsRoundsWhereThatIsWhatIsProtected) {
  const auto config = private_config(PrivacyKind::client);
  auto federation = test::make_simulation(config);
  for (int round = 1; round <= 3; ++round) {
    const auto record = federation.run_round();
    const GaussianSteps told{1, config.privacy.noise, static_cast<double>(round)};
    for (const double epsilon : record.privacy->clients)
      EXPECT_NEAR(epsilon, epsilon_of(std::span(&told, 1), 1e-5), 1e-5 * epsilon);
  }
}

TEST(PrivateRun, ReachesATargetWithItsLastRoundAndNotBefore) {
  for (const auto kind : kKinds) {
    auto config = private_config(kind);
    config.privacy.target_epsilon = 3;
    auto federation = test::make_simulation(config);
    for (std::size_t round = 1; round <= config.run.rounds; ++round) {
      const auto record = federation.run_round();
      for (const double epsilon : record.privacy->clients) {
        EXPECT_LE(epsilon, 3);
        EXPECT_EQ(epsilon > 2.99, round == config.run.rounds) << epsilon;
      }
    }
  }
}

TEST(PrivateRun, IsNeverRepeatedWithNoiseOfTheSystem) {
  for (const auto kind : kKinds) {
    const auto config = private_config(kind);
    const auto run = [&](NoiseOrigin origin) {
      Preprocessing how;
      how.resize = how.crop = test::tiny_backbone().geometry().image_size;
      Simulation federation(config, make_method(config, origin), test::tiny_backbone(), how,
                            test::coloured_squares(12, 4));
      const auto record = federation.run_round();
      return std::pair(states_of(federation), record.privacy->epsilon);
    };
    const auto seeded = run(NoiseOrigin::seed);
    EXPECT_EQ(run(NoiseOrigin::seed), seeded);
    const auto secret = run(NoiseOrigin::system);
    EXPECT_NE(secret.first, seeded.first);
    EXPECT_NE(run(NoiseOrigin::system).first, secret.first);
    EXPECT_EQ(secret.second, seeded.second);  // the promise is the same
  }
}

TEST(PrivateRun, SendsNoiseWhereAnUpdateIsNotFinite) {
  std::vector<float> before(200, 1.0f), values(200, 2.0f);
  values[7] = std::numeric_limits<float>::infinity();
  const PrivateRounds privacy{{.kind = PrivacyKind::client, .clip = 0.5}, NoiseOrigin::seed, 1};
  auto untouched = before;
  protect_update(privacy, 2, {1, 2, 3}, before, values);
  protect_update(privacy, 2, {1, 2, 3}, before, untouched);  // who trained on nothing
  EXPECT_EQ(values, untouched);
  EXPECT_NE(values, before);
}

// Pictures of noise whose labels mean nothing: who knows them has seen them.
Corpus noise_pictures(std::size_t train, std::size_t test) {
  Corpus corpus = test::coloured_squares(train, test);
  RandomStream stream(5, "noise pictures");
  for (auto* set : {&corpus.train, &corpus.test})
    for (auto& byte : set->bytes) byte = static_cast<std::uint8_t>(stream.below(256));
  return corpus;
}

RunConfig learning_by_heart() {
  auto config = test::small_config();
  config.run.rounds = 1;
  config.partition.clients_per_domain = 2;
  config.head.kind = HeadKind::mlp;
  config.head.hidden = {64};
  config.train = {.optimizer = {.learning_rate = 0.02}, .batch = 8, .epochs = 40};
  config.evaluate.membership = 60;
  config.evaluate.samples = 1;
  return config;
}

MembershipRecord attacked(const RunConfig& config) {
  Preprocessing how;
  how.resize = how.crop = test::tiny_backbone().geometry().image_size;
  Simulation federation(config, test::tiny_backbone(), how, noise_pictures(40, 40));
  return *federation.run_round().membership;
}

TEST(PrivateRun, IsSeenThroughByMembershipInferenceUnlessItIsPrivate) {
  auto config = learning_by_heart();
  const auto open = attacked(config);
  EXPECT_GT(open.auc, 0.8);
  EXPECT_GT(open.accuracy, 0.7);
  EXPECT_GT(open.shadow_auc, 0.6);  // shadows that know other noise by heart are little help
  config.privacy = {.kind = PrivacyKind::examples, .clip = 0.5, .target_epsilon = 1};
  const auto closed = attacked(config);
  // 4 clients, 60 pictures against 60: a guess has a deviation of 0.026.
  EXPECT_NEAR(closed.auc, 0.5, 0.1);
  EXPECT_NEAR(closed.accuracy, 0.5, 0.1);
  EXPECT_NEAR(closed.shadow_auc, 0.5, 0.1);
}

TEST(PrivateRun, IsAttackedTheSameOnAnyThreads) {
  auto config = learning_by_heart();
  config.train.epochs = 2;
  const auto one = attacked(config);
  config.run.threads = 3;
  const auto three = attacked(config);
  EXPECT_EQ(one.auc, three.auc);
  EXPECT_EQ(one.shadow_auc, three.shadow_auc);
}

TEST(PrivateRun, IsRefusedWithWhatWouldTellWhatNoiseHides) {
  const auto expect_refused = [](PrivacyKind kind, const char* place, const auto& change) {
    RunConfig config;
    config.privacy.kind = kind;
    config.validate();
    change(config);
    try {
      config.validate();
      ADD_FAILURE() << place;
    } catch (const Error& error) {
      EXPECT_EQ(error.place(), place);
      EXPECT_FALSE(error.hint().empty()) << place;
    }
  };
  for (const auto kind : kKinds) {
    expect_refused(kind, "privacy.kind", [](RunConfig& c) { apply_method(c, "d2"); });
    expect_refused(kind, "merge.pool", [](RunConfig& c) { apply_method(c, "pass-on"); });
    expect_refused(kind, "merge.head", [](RunConfig& c) { c.merge.head = HeadMerge::class_mass; });
    expect_refused(kind, "train.head_moments",
                   [](RunConfig& c) { c.train.frame.coordinates = HeadCoordinates::whitened; });
  }
  expect_refused(PrivacyKind::examples, "train.sam_radius", [](RunConfig& c) { apply_method(c, "dfedsam"); });
  expect_refused(PrivacyKind::examples, "prompts.pool", [](RunConfig& c) { c.prompts.pool = 20; });
  expect_refused(PrivacyKind::examples, "train.head_coordinates", [](RunConfig& c) {
    c.train.frame = {.coordinates = HeadCoordinates::centred, .moments = MomentsOf::own};
  });
  expect_refused(PrivacyKind::client, "privacy.kind", [](RunConfig& c) { apply_method(c, "local"); });
  expect_refused(PrivacyKind::client, "method.cooperation",
                 [](RunConfig& c) { apply_method(c, "fedavg-pt"); });
}

}  // namespace
}  // namespace dfrost
