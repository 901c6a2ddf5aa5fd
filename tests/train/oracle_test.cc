// Optimizers and whole local updates against PyTorch (oracle.py), which runs once for all cases: importing it
// is most of the time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/safetensors.h"
#include "support/support.h"
#include "train/local_update.h"
#include "train/oracle_export.h"
#include "train/samples.h"
#include "train/update_methods.h"

namespace dfrost {
namespace {

using nlohmann::json;

struct UpdateCase {
  std::string name;
  AdapterOptions adapter;
  TrainOptions train;
  std::size_t special_tokens = 1;
};

constexpr std::size_t kClasses = 6, kSamples = 10;
constexpr RandomKey kKey = {.seed = 11, .client = 3, .round = 2};

UpdateCase case_of(const MethodPreset& method, HeadKind head) {
  UpdateCase c{fmt::format("{}-{}", method.name, to_string(head)),
               {.prompts = method.prompts, .head = {.kind = head, .classes = kClasses, .hidden = {20, 12}}},
               method.train};
  c.adapter.prompts.count = 3;
  if (c.adapter.prompts.pool != 0) c.adapter.prompts.pool = 5;
  c.train.batch = 4;
  c.train.epochs = std::min<std::size_t>(c.train.epochs, 2);
  test::enlarge_steps(c.train.optimizer);
  return c;
}

std::vector<UpdateCase> update_cases() {
  std::vector<UpdateCase> cases;
  for (const auto& method : test::update_methods()) {
    for (const auto head : {HeadKind::linear, HeadKind::pfpt, HeadKind::mlp})
      cases.push_back(case_of(method, head));
  }
  const auto add = [&](const char* name, const char* method, HeadKind head, const auto& change) {
    cases.push_back(case_of(method_preset(method), head));
    cases.back().name = name;
    change(cases.back());
  };
  add("unmasked", "dfrost", HeadKind::linear, [](UpdateCase& c) { c.train.mask = ClassMask::none; });
  add("distilled-linear", "dfrost", HeadKind::linear, [](UpdateCase& c) { c.special_tokens = 2; });
  add("distilled-pfpt", "dfrost", HeadKind::pfpt, [](UpdateCase& c) { c.special_tokens = 2; });
  add("pfpt-pool", "dfedavgm+", HeadKind::linear,
      [](UpdateCase& c) { c.adapter.prompts.similarity_weight = 0.01; });
  add("l2p-pool", "dfedsam+", HeadKind::mlp, [](UpdateCase& c) {
    c.adapter.prompts.keys = PoolKeys::separate;
    c.adapter.prompts.similarity_weight = -0.5;
  });
  add("voting-pool", "dfrost+", HeadKind::linear, [](UpdateCase& c) {
    c.adapter.prompts.choice = PoolChoice::per_batch;
    c.adapter.prompts.similarity_weight = -0.5;
  });
  return cases;
}

struct Setting {
  std::unique_ptr<Backbone> backbone;
  std::unique_ptr<test::MemorySamples> samples;

  explicit Setting(std::size_t special_tokens)
      : backbone(test::tiny_backbone(special_tokens)),
        samples(std::make_unique<test::MemorySamples>(*backbone, kSamples, test::kDomains, 5)) {}
};

ClientState first_state(const UpdateCase& c, const Geometry& geometry) {
  auto state = make_client_state(c.adapter, geometry, 1, 0);
  // Larger than their first size, at which features hardly depend on them.
  for (std::size_t r = 0; r < state.prompts().rows(); ++r) {
    for (float& value : state.prompts().row(r)) value *= 5;
  }
  return state;
}

json export_case(const UpdateCase& c, const Setting& setting, const test::TemporaryFolder& folder) {
  const Geometry& g = setting.backbone->geometry();
  json labels = json::array(), ranges = json::array(), orders = json::array();
  for (std::size_t i = 0; i < kSamples; ++i) {
    const auto& range = test::kDomains[setting.samples->domain(i)];
    labels.push_back(setting.samples->label(i));
    ranges.push_back({range.first, range.count});
  }
  RandomStream order = data_order(kKey);
  for (std::size_t epoch = 0; epoch < c.train.epochs; ++epoch) orders.push_back(order.permutation(kSamples));

  const auto state = first_state(c, g);
  auto tensors = tensors_of(state);
  tensors.push_back({"pixels", {kSamples, g.patches(), g.patch_values()}, setting.samples->pixels()});
  std::vector<float> dropout;
  if (drops_out(c.adapter.head)) {
    const std::size_t per_epoch = (kSamples + c.train.batch - 1) / c.train.batch, hidden = 512;
    const std::size_t steps = per_epoch * c.train.epochs;
    dropout.resize(steps * c.train.batch * hidden, 1.0f);
    for (std::size_t step = 0; step < steps; ++step) {
      draw_dropout(kKey, step, c.adapter.head.dropout,
                   {dropout.data() + step * c.train.batch * hidden, c.train.batch, hidden});
    }
    tensors.push_back({"dropout", {steps, c.train.batch, hidden}, dropout});
  }
  write_safetensors(folder / (c.name + ".safetensors"), tensors);
  json description = test::describe_training(c.adapter, c.train, g);
  description.update({{"name", c.name}, {"labels", labels}, {"ranges", ranges}, {"orders", orders}});
  return description;
}

struct OptimizerCase {
  std::string name;
  OptimizerOptions options;
};

const std::vector<OptimizerCase> kOptimizers = {
    {"adam", {.kind = OptimizerKind::adam, .learning_rate = 0.01}},
    {"sgd", {.kind = OptimizerKind::sgd, .learning_rate = 0.01}},
    {"momentum", {.kind = OptimizerKind::sgd, .learning_rate = 0.002, .momentum = 0.99}},
    {"sam-momentum",
     {.kind = OptimizerKind::sgd, .learning_rate = 0.002, .momentum = 0.99, .sam_radius = 0.05}},
    {"sam-adam", {.kind = OptimizerKind::adam, .learning_rate = 0.01, .sam_radius = 0.05}},
};
constexpr std::size_t kOptimizerSteps = 20, kOptimizerValues = 40;

// The function of oracle.py's trajectory().
struct Landscape {
  std::vector<float> a, b, w;

  Landscape() : a(kOptimizerValues), b(kOptimizerValues), w(kOptimizerValues) {
    RandomStream stream(3, "landscape");
    for (auto* values : {&a, &b, &w}) {
      for (float& value : *values) value = static_cast<float>(stream.uniform(-0.5, 0.5));
    }
  }
  std::vector<float> gradient(const std::vector<float>& at) const {
    std::vector<float> g(at.size());
    for (std::size_t i = 0; i < at.size(); ++i) g[i] = a[i] * at[i] + 3 * b[i] * std::cos(3 * at[i]);
    return g;
  }
};

// What oracle.py makes of these cases then lies in the folder.
void run_oracle(const test::TemporaryFolder& folder, const json& optimizers, const json& updates) {
  const json cases = {{"updates", updates}, {"optimizers", optimizers}};
  write_file_atomically(folder / "cases.json", cases.dump());
  test::run_python("train/oracle.py", fmt::format("'{}'", folder.path().string()));
}

TEST(TrainOracle, OptimizersFollowPyTorchStepByStep) {
  const test::TemporaryFolder folder;
  const Landscape land;
  json cases = json::array();
  for (const auto& c : kOptimizers) {
    const Shape shape = {kOptimizerValues};
    write_safetensors(
        folder / (c.name + ".safetensors"),
        std::vector<FloatTensor>{{"a", shape, land.a}, {"b", shape, land.b}, {"w", shape, land.w}});
    cases.push_back(
        {{"name", c.name}, {"steps", kOptimizerSteps}, {"optimizer", test::describe_optimizer(c.options)}});
  }
  run_oracle(folder, cases, json::array());
  for (const auto& c : kOptimizers) {
    const SafetensorsFile file(folder / (c.name + "-after.safetensors"));
    const auto expected = read_floats(file.content().at("trajectory"), "trajectory");
    OptimizerState optimizer;
    optimizer.start(c.options, kOptimizerValues);
    auto w = land.w;
    for (std::size_t step = 0; step < kOptimizerSteps; ++step) {
      auto place = w;
      if (c.options.sam_radius > 0) ascend_adaptively(land.gradient(w), c.options.sam_radius, place);
      descend(c.options, land.gradient(place), optimizer, w);
      for (std::size_t i = 0; i < w.size(); ++i)
        ASSERT_NEAR(w[i], expected[step * w.size() + i], 1e-6)
            << c.name << " step " << step << " value " << i;
    }
  }
}

double distance(std::span<const float> a, std::span<const float> b) {
  double square = 0;
  for (std::size_t i = 0; i < a.size(); ++i) square += std::pow(static_cast<double>(a[i] - b[i]), 2);
  return std::sqrt(square);
}

// Every value within 1e-4, and the error small beside the way that training went, but for the rounding of the
// values themselves, beside which slow prompts go a short way.
void expect_same_update(const UpdateCase& c, const ClientState& before, const ClientState& ours,
                        const ClientState& theirs) {
  for (const auto& part : ours.layout.parts()) {
    const auto own = [&](const ClientState& state) {
      return std::span<const float>(state.values).subspan(part.offset, part.size);
    };
    double largest = 0;
    for (std::size_t i = 0; i < part.size; ++i)
      largest = std::max(largest, std::abs(static_cast<double>(own(ours)[i] - own(theirs)[i])));
    EXPECT_LT(largest, 1e-4) << c.name << " " << part.name;
    const double way = distance(own(before), own(theirs));
    const std::vector<float> origin(part.size, 0.0F);
    const double rounding = std::numeric_limits<float>::epsilon() * distance(own(before), origin);
    EXPECT_LE(distance(own(ours), own(theirs)), 1e-3 * way + rounding) << c.name << " " << part.name;
    const bool trained = part.name != kProjectionPart || c.adapter.prompts.similarity_weight != 0;
    EXPECT_EQ(way > 0, trained) << c.name << " " << part.name;
  }
}

void export_updates(const test::TemporaryFolder& folder, json& cases) {
  for (const std::size_t specials : {1, 2}) {
    Geometry geometry = geometry_of_model("tiny");
    geometry.special_tokens = specials;
    test::export_model(RandomWeights(geometry, 1), folder / fmt::format("model-{}.safetensors", specials));
    const Setting setting(specials);
    for (const auto& c : update_cases()) {
      if (c.special_tokens == specials) cases.push_back(export_case(c, setting, folder));
    }
  }
}

TEST(TrainOracle, LocalUpdateEndsWherePyTorchEndsForEveryMethodHeadAndPool) {
  const test::TemporaryFolder folder;
  json cases = json::array();
  export_updates(folder, cases);
  run_oracle(folder, json::array(), cases);
  for (const auto& c : update_cases()) {
    const Setting setting(c.special_tokens);
    const auto before = first_state(c, setting.backbone->geometry());
    auto ours = before, theirs = before;
    Workspace workspace(*setting.backbone);
    local_update(c.adapter, ours, *setting.samples, c.train, kKey, workspace);
    const SafetensorsFile file(folder / (c.name + "-after.safetensors"));
    read_state(file.content(), theirs);
    expect_same_update(c, before, ours, theirs);
  }
}

// Optimizers that are kept over rounds: Adam, momentum, and momentum under SAM with a pool.
constexpr std::size_t kRounds = 3;
std::vector<UpdateCase> kept_cases() {
  std::vector<UpdateCase> cases = {case_of(method_preset("dfrost"), HeadKind::linear),
                                   case_of(method_preset("dfedavgm"), HeadKind::mlp),
                                   case_of(method_preset("dfedsam+"), HeadKind::linear)};
  // With prompts that rest in all epochs but the first, and so have taken fewer steps.
  for (const char* method : {"dfrost", "dfedavgm"}) {
    cases.push_back(case_of(method_preset(method), HeadKind::linear));
    cases.back().name += "-resting";
    cases.back().train.prompt_epochs = 1;
    cases.back().train.prompt_rate = 0.5;
  }
  for (auto& c : cases) {
    c.train.optimizer_state = OptimizerMemory::kept;
    c.adapter.prompts.similarity_weight = c.adapter.prompts.selects() ? 0.01 : 0;
  }
  return cases;
}

RandomKey key_of_round(std::size_t round) { return {.seed = 11, .client = 3, .round = round}; }

json export_kept_case(const UpdateCase& c, const Setting& setting, const test::TemporaryFolder& folder) {
  json description = export_case(c, setting, folder), rounds = json::array();
  for (std::size_t round = 0; round < kRounds; ++round) {
    RandomStream order = data_order(key_of_round(round));
    json orders = json::array();
    for (std::size_t epoch = 0; epoch < c.train.epochs; ++epoch)
      orders.push_back(order.permutation(kSamples));
    rounds.push_back(orders);
  }
  description["rounds"] = rounds;
  return description;
}

TEST(TrainOracle, AKeptOptimizerGoesOnAsOnePyTorchOptimizerDoesOverRoundsWithMergesBetween) {
  const test::TemporaryFolder folder;
  test::export_model(RandomWeights(geometry_of_model("tiny"), 1), folder / "model-1.safetensors");
  const Setting setting(1);
  json cases = json::array();
  for (const auto& c : kept_cases()) cases.push_back(export_kept_case(c, setting, folder));
  run_oracle(folder, json::array(), cases);
  for (const auto& c : kept_cases()) {
    const auto before = first_state(c, setting.backbone->geometry());
    auto ours = before, theirs = before;
    Workspace workspace(*setting.backbone);
    for (std::size_t round = 0; round < kRounds; ++round) {
      SCOPED_TRACE(round);
      local_update(c.adapter, ours, *setting.samples, c.train, key_of_round(round), workspace);
      const SafetensorsFile file(folder / fmt::format("{}-{}-after.safetensors", c.name, round));
      read_state(file.content(), theirs);
      expect_same_update(c, before, ours, theirs);
      for (float& value : ours.values) value *= 0.9f;  // oracle.py's merge
    }
  }
}

}  // namespace
}  // namespace dfrost
