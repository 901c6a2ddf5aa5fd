// Membership inference, measured: how well somebody who has a picture, and what a client sent, can tell
// whether the client trained on it. The attacker goes by the loss (Yeom et al. 2018): pictures that were
// trained on fit better. Pictures that it must tell from them are held out, and of the same classes, so that
// nothing but having been trained on makes the difference.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/random.h"

namespace dfrost {

struct MembershipScore {
  double auc = 0.5;       // how often a member has less loss than one that is none: 0.5 is guessing
  double accuracy = 0.5;  // by the threshold of Yeom et al., the mean loss of members; 0.5 is guessing
};

// 0.5 where there is nobody to tell apart.
MembershipScore tell_members(std::span<const double> members, std::span<const double> others);

// As many of a client's pictures as there are held-out ones of the same class, `count` at most, and those:
// places in the client's own samples and in the test set. Drawn at random.
struct MembershipPairs {
  std::vector<std::size_t> members;
  std::vector<std::size_t> held_out;
};
MembershipPairs pair_members(std::span<const std::size_t> own_labels,
                             std::span<const std::size_t> test_labels, std::size_t count,
                             RandomStream stream);

// Losses less what other models, which were not trained on these pictures, have on average: what is hard for
// everybody tells nothing. `shadows[s][i]` is that of picture i.
std::vector<double> calibrated(std::span<const double> losses, std::span<const std::vector<double>> shadows);

}  // namespace dfrost
