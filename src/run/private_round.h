// What [privacy] means for a client's round, and the account that it keeps of it: how often and with how much
// noise it has told something of its pictures, from the first round on. The account lies in the node's
// memory, and so in checkpoints.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "privacy/accountant.h"
#include "privacy/noise_source.h"
#include "run/node.h"
#include "train/local_update.h"

namespace dfrost {

// The settings, and what a driver adds to them.
struct PrivateRounds {
  PrivacyOptions options = {};
  NoiseOrigin origin = NoiseOrigin::seed;
  std::size_t rounds = 0;  // of the whole run, which a target ε is for
};

// In the memory, [entries, 3]: sampling rate, noise, and how many steps were taken with them.
inline constexpr std::string_view kAccount = "privacy.account";

// What one round of a client with so many pictures will add to its account. Where a target ε picks the noise,
// the client keeps what it once picked.
GaussianSteps steps_of_round(const PrivateRounds& privacy, const TrainOptions& train, std::size_t pictures,
                             const Node& node);

void charge(const GaussianSteps& steps, Node& node);

// ε of all that stands in a node's account; nothing where it has none.
std::optional<double> spent_epsilon(const Node& node, double delta);

// PrivacyKind::client: the way from `before` to the node's values, cut to the norm `clip` and noised. An
// update that is not finite counts as none. From here on the client itself has nothing else, either.
void protect_update(const PrivateRounds& privacy, double noise, const RandomKey& key,
                    std::span<const float> before, std::span<float> values);

}  // namespace dfrost
