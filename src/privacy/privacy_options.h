// What [privacy] says: whom noise protects, and how much of it there is.
#pragma once

#include <string_view>

namespace dfrost {

enum class PrivacyKind {
  none,
  examples,  // every picture: gradients are clipped picture by picture and noised at every step
  client,    // all of a client at once: what a round changed is clipped and noised before it is sent
};
std::string_view to_string(PrivacyKind kind);

struct PrivacyOptions {
  PrivacyKind kind = PrivacyKind::none;
  double clip = 1;            // C: the longest gradient of a picture, or update of a client
  double noise = 1;           // σ: the noise's deviation, times C
  double delta = 1e-5;        // δ of the promise
  double target_epsilon = 0;  // instead of `noise`, each client takes what keeps it at that ε; 0: `noise`
};

}  // namespace dfrost
