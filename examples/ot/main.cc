// Two clients hold the same two prompts in another order. Averaging by index would mix them; the merge does
// not.
#include <cstdio>
#include <vector>

#include "dfrost/merge.h"
#include "dfrost/wasserstein.h"

int main() {
  const float mine[] = {0, 0, 10, 0}, theirs[] = {10, 1, 0, 1};
  const std::vector<dfrost::MatrixView<const float>> senders = {{mine, 2, 2}, {theirs, 2, 2}};
  float merged[4];
  const auto summary = dfrost::merge({.senders = senders}, {.shrink = dfrost::Shrink::off}, {merged, 2, 2});
  std::printf("merged (%g, %g) and (%g, %g)\n", merged[0], merged[1], merged[2], merged[3]);
  std::printf("off-index mass %g\n", summary.off_index_mass);
  std::printf("W2^2 %g\n", dfrost::wasserstein2_squared({senders[0]}, {senders[1]}).w2_squared);
}
