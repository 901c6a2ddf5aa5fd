#include "run/attack_tally.h"

#include <limits>

#include "dfrost/wasserstein.h"
#include "run/state_merge.h"

namespace dfrost {
namespace {

// What the client had before its last merge; what it has, where it did not merge.
MatrixView<const float> trained_prompts(const Node& client) {
  const auto own = client.state.prompts();
  const auto kept = client.memory.find(kLastGood);
  if (kept == client.memory.end() || kept->second.values.size() != client.state.values.size()) return own;
  return part_of(client.state.layout, std::span<const float>(kept->second.values), kPromptPart);
}

}  // namespace

std::vector<std::size_t> honest_among(std::span<const std::size_t> clients,
                                      const std::vector<bool>& hostile) {
  std::vector<std::size_t> honest;
  for (const std::size_t client : clients)
    if (!hostile[client]) honest.push_back(client);
  return honest;
}

AttackRecord tally_attack(std::span<const NodeReport> reports, const std::vector<bool>& hostile) {
  AttackRecord record;
  for (std::size_t u = 0; u < hostile.size(); ++u)
    if (hostile[u]) record.clients.push_back(static_cast<ClientId>(u));
  double merges = 0, mass = 0;
  for (const auto& report : reports) {
    if (!report.merge.merged || hostile[report.node]) continue;
    ++merges;
    for (const auto& [sender, got] : report.merge.senders)
      if (hostile[sender]) mass += got;
  }
  if (merges > 0) record.mass = mass / merges;
  return record;
}

double distance_from_honest(std::span<const Node> clients, const std::vector<bool>& hostile,
                            const ConsensusOptions& options) {
  std::vector<MatrixView<const float>> trained;
  for (const auto& client : clients)
    if (!hostile[client.id]) trained.push_back(trained_prompts(client));
  if (trained.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto consensus = consensus_error(trained, options);
  const MatrixView<const float> barycenter(consensus.barycenter.data(), consensus.prompts,
                                           trained.front().cols());
  double sum = 0;
  for (const auto& client : clients)
    if (!hostile[client.id]) sum += wasserstein2_squared({client.state.prompts()}, {barycenter}).w2_squared;
  return sum / static_cast<double>(trained.size());
}

std::optional<AttackRecord::Scores> honest_scores(const std::vector<std::size_t>& chosen,
                                                  const std::vector<bool>& hostile,
                                                  std::span<const Evaluation> scores) {
  std::vector<double> masked, unmasked;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (hostile[chosen[i]]) continue;
    const auto total = scores[i].total();
    masked.push_back(total.accuracy_masked());
    unmasked.push_back(total.accuracy_unmasked());
  }
  if (masked.empty()) return std::nullopt;
  return AttackRecord::Scores{spread_of(masked), spread_of(unmasked)};
}

std::vector<std::size_t> pictures_of_others(const SampleSource& pictures, const MarkedPictures& marked,
                                            std::span<const std::size_t> samples) {
  std::vector<std::size_t> others;
  for (const std::size_t sample : samples)
    if (pictures.label(sample) != marked.target_of(pictures.domain(sample))) others.push_back(sample);
  return others;
}

}  // namespace dfrost
