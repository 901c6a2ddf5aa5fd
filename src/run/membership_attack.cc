#include "run/membership_attack.h"

#include "measure/membership.h"
#include "run/state_merge.h"

namespace dfrost {
namespace {

constexpr std::size_t kMostShadows = 4;

// What others got of it: its state before it merged, where it did.
ClientState sent_state(const Node& client) {
  ClientState state = client.state;
  const auto before = client.memory.find(kLastGood);
  if (before != client.memory.end() && before->second.values.size() == state.values.size())
    state.values = before->second.values;
  return state;
}

std::vector<std::size_t> labels_of(const SampleSource& source) {
  std::vector<std::size_t> labels(source.size());
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = source.label(i);
  return labels;
}

// Others whose pictures are of the same domain; where there are none, any others.
std::vector<std::size_t> shadows_of(const AttackedClients& all, std::size_t client) {
  std::vector<std::size_t> near, far;
  const auto domain = [&](std::size_t u) { return all.samples[u].domain(0); };
  for (std::size_t step = 1; step < all.clients.size(); ++step) {
    const std::size_t other = (client + step) % all.clients.size();
    if (all.samples[other].size() == 0) continue;
    (domain(other) == domain(client) ? near : far).push_back(other);
  }
  auto& shadows = near.empty() ? far : near;
  if (shadows.size() > kMostShadows) shadows.resize(kMostShadows);
  return shadows;
}

// Losses of members, then of the held-out.
std::vector<double> losses_under(const Node& model, const AttackedClients& all, std::size_t client,
                                 const MembershipPairs& pairs, Workspace& workspace) {
  const EvaluateOptions how{all.mask, all.options.batch};
  const auto state = sent_state(model);
  auto losses = sample_losses(model.adapter, state, all.samples[client], pairs.members, how, workspace);
  const auto others = sample_losses(model.adapter, state, all.held_out, pairs.held_out, how, workspace);
  losses.insert(losses.end(), others.begin(), others.end());
  return losses;
}

MembershipScore tell(std::span<const double> losses) {
  return tell_members(losses.first(losses.size() / 2), losses.subspan(losses.size() / 2));
}

MembershipRecord attack_one(const AttackedClients& all, std::size_t client,
                            std::span<const std::size_t> test_labels, Workspace& workspace) {
  if (all.samples[client].size() == 0) return {};
  const auto pairs = pair_members(labels_of(all.samples[client]), test_labels, all.options.membership,
                                  RandomStream(all.seed, "membership", client));
  const auto losses = losses_under(all.clients[client], all, client, pairs, workspace);
  std::vector<std::vector<double>> shadows;
  for (const std::size_t other : shadows_of(all, client))
    shadows.push_back(losses_under(all.clients[other], all, client, pairs, workspace));
  const auto alone = tell(losses);
  return {alone.auc, alone.accuracy, tell(calibrated(losses, shadows)).auc};
}

}  // namespace

MembershipRecord attack_members(const AttackedClients& all, std::span<const std::size_t> chosen,
                                ThreadPool& threads, std::span<Workspace> workspaces) {
  const auto test_labels = labels_of(all.held_out);
  std::vector<MembershipRecord> records(chosen.size());
  threads.parallel_for(chosen.size(), [&](std::size_t i, std::size_t worker) {
    records[i] = attack_one(all, chosen[i], test_labels, workspaces[worker]);
  });
  MembershipRecord mean{0, 0, 0};
  for (const auto& record : records) {
    mean.auc += record.auc / static_cast<double>(records.size());
    mean.accuracy += record.accuracy / static_cast<double>(records.size());
    mean.shadow_auc += record.shadow_auc / static_cast<double>(records.size());
  }
  return mean;
}

}  // namespace dfrost
