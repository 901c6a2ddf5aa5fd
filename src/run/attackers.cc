#include "run/attackers.h"

#include <cmath>

namespace dfrost {

std::vector<bool> attackers_of(const AttackSection& attack, std::size_t clients, Seed seed) {
  std::vector<bool> hostile(clients, false);
  if (!attack.is_on()) return hostile;
  for (const std::size_t client : attack.clients)
    if (client < clients) hostile[client] = true;
  if (!attack.clients.empty()) return hostile;
  const auto count = static_cast<std::size_t>(std::lround(attack.share * static_cast<double>(clients)));
  const auto order = RandomStream(seed, "attackers").permutation(clients);
  for (std::size_t k = 0; k < count && k + 1 < clients; ++k) hostile[order[k]] = true;
  return hostile;
}

}  // namespace dfrost
