#include "run/private_round.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/finite.h"

namespace dfrost {
namespace {

constexpr std::size_t kEntry = 3;

std::vector<GaussianSteps> read_account(const Node& node) {
  std::vector<GaussianSteps> entries;
  const auto found = node.memory.find(kAccount);
  if (found == node.memory.end()) return entries;
  const auto& values = found->second.values;
  for (std::size_t i = 0; i + kEntry <= values.size(); i += kEntry)
    entries.push_back({static_cast<double>(values[i]), static_cast<double>(values[i + 1]),
                       static_cast<double>(values[i + 2])});
  return entries;
}

// What a float holds of it, rounded to the side that `towards` lies on: the account must say what was done.
double as_float(double value, double towards) {
  const auto near = static_cast<float>(value);
  const bool wrong_side =
      towards > value ? static_cast<double>(near) < value : static_cast<double>(near) > value;
  return static_cast<double>(wrong_side ? std::nextafter(near, static_cast<float>(towards)) : near);
}

double steps_taken(const TrainOptions& train, std::size_t pictures) {
  const std::size_t in_epoch = (pictures + train.batch - 1) / train.batch;
  const std::size_t all = in_epoch * train.epochs;
  return static_cast<double>(train.max_steps == 0 ? all : std::min(all, train.max_steps));
}

}  // namespace

GaussianSteps steps_of_round(const PrivateRounds& privacy, const TrainOptions& train, std::size_t pictures,
                             const Node& node) {
  const auto& options = privacy.options;
  GaussianSteps steps{.noise = options.noise, .count = 1};
  if (options.kind == PrivacyKind::examples) {
    steps.sampling_rate = as_float(sampling_rate(train.batch, pictures), 1);
    steps.count = steps_taken(train, pictures);
  }
  if (options.target_epsilon > 0) {
    const auto account = read_account(node);
    const bool goes_on = !account.empty() && account.back().sampling_rate == steps.sampling_rate;
    const double all = steps.count * static_cast<double>(std::max<std::size_t>(privacy.rounds, 1));
    steps.noise = goes_on ? account.back().noise
                          : noise_for(options.target_epsilon, options.delta, steps.sampling_rate, all);
  }
  steps.noise = as_float(steps.noise, std::numeric_limits<float>::max());
  return steps;
}

void charge(const GaussianSteps& steps, Node& node) {
  auto& account = node.memory[std::string(kAccount)];
  const auto entries = read_account(node);
  const bool goes_on = !entries.empty() && entries.back().sampling_rate == steps.sampling_rate &&
                       entries.back().noise == steps.noise;
  if (!goes_on)
    for (const double value : {steps.sampling_rate, steps.noise, 0.0})
      account.values.push_back(static_cast<float>(value));
  account.values.back() += static_cast<float>(steps.count);
  account.shape = {account.values.size() / kEntry, kEntry};
}

std::optional<double> spent_epsilon(const Node& node, double delta) {
  if (!node.memory.contains(kAccount)) return std::nullopt;
  return epsilon_of(read_account(node), delta);
}

void protect_update(const PrivateRounds& privacy, double noise, const RandomKey& key,
                    std::span<const float> before, std::span<float> values) {
  const bool finite = all_finite(values);
  double square = 0;
  for (std::size_t i = 0; finite && i < values.size(); ++i) {
    const double way = static_cast<double>(values[i]) - static_cast<double>(before[i]);
    square += way * way;
  }
  const double clip = privacy.options.clip;
  const double share = square > clip * clip ? clip / std::sqrt(square) : 1;
  NoiseSource source(privacy.origin, key.seed, "noise of an update", key.client, key.round);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto start = static_cast<double>(before[i]);
    const double way = finite ? share * (static_cast<double>(values[i]) - start) : 0;
    values[i] = static_cast<float>(start + way + noise * clip * source.normal());
  }
}

}  // namespace dfrost
