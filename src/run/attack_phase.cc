#include "run/attack_phase.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "merge/merge_kinds.h"
#include "run/attackers.h"
#include "run/forgery.h"
#include "run/poisoned_samples.h"

namespace dfrost {
namespace {

// Names in a node's memory or draft: one of these, then the tensor's.
constexpr std::string_view kBefore = "attack: before/";  // the state that the round began with; a draft
constexpr std::string_view kBegan = "attack: began/";    // and that of the round before
constexpr std::string_view kStale = "attack: stale/";
constexpr std::string_view kSeen = "attack: seen ";  // then the neighbour's number, and '/'

NodeTensors copy_of(std::span<const FloatTensor> tensors) {
  NodeTensors copy;
  for (const auto& [name, shape, values] : tensors) copy[name] = {shape, {values.begin(), values.end()}};
  return copy;
}

void put(std::string_view prefix, const NodeTensors& tensors, NodeTensors& into) {
  for (const auto& [name, tensor] : tensors) into[std::string(prefix) + name] = tensor;
}

NodeTensors take_all(std::string_view prefix, const NodeTensors& from) {
  NodeTensors found;
  for (auto it = from.lower_bound(prefix); it != from.end() && it->first.starts_with(prefix); ++it)
    found[it->first.substr(prefix.size())] = it->second;
  return found;
}

void forget(std::string_view prefix, NodeTensors& memory) {
  std::erase_if(memory, [&](const auto& entry) { return entry.first.starts_with(prefix); });
}

// Of each neighbour that sent something in the last round, by its number.
std::vector<SeenLetter> seen_letters(const NodeTensors& memory) {
  std::map<ClientId, NodeTensors> letters;
  for (const auto& [name, tensor] : take_all(kSeen, memory)) {
    ClientId from = 0;
    const auto slash = name.find('/');
    std::from_chars(name.data(), name.data() + slash, from);
    letters[from][name.substr(slash + 1)] = tensor;
  }
  std::vector<SeenLetter> seen;
  for (auto& [from, tensors] : letters) seen.push_back({from, std::move(tensors)});
  return seen;
}

Letter letter_of(std::vector<ClientId> to, NodeTensors tensors) {
  Letter letter{std::move(to), {}, std::make_shared<const NodeTensors>(std::move(tensors))};
  for (const auto& [name, tensor] : *letter.kept)
    letter.tensors.push_back({name, tensor.shape, tensor.values});
  return letter;
}

// Every neighbour that was heard of gets a letter of its own.
std::vector<Letter> split_letters(const Letter& honest, const AttackerSight& sight, double strength) {
  std::vector<Letter> letters;
  for (const ClientId to : honest.to) {
    std::size_t s = 0;
    while (s < sight.seen.size() && sight.seen[s].from != to) ++s;
    letters.push_back(
        letter_of({to}, s < sight.seen.size() ? forge_dissensus(sight, s, strength) : sight.own));
  }
  return letters;
}

}  // namespace

bool AttackPhase::is_attacker(const Node& node, const RoundPlan& plan) const {
  return node.role == NodeRole::client && attackers_of(attack_, plan.clients, seed_)[node.id];
}

bool AttackPhase::acts(const Node& node, const RoundPlan& plan) const {
  return plan.round >= attack_.from_round && is_attacker(node, plan);
}

void AttackPhase::work(Node& node, const RoundPlan& plan, Workplace place, NodeReport& report) const {
  if (!is_attacker(node, plan)) return honest_->work(node, plan, place, report);
  put(kBefore, copy_of(tensors_of(node.state)), node.draft);
  if (!acts(node, plan)) return honest_->work(node, plan, place, report);
  const bool keeps = attack_.kind == AttackKind::stale && take_all(kStale, node.memory).empty();
  if (keeps) put(kStale, copy_of(tensors_of(node.state)), node.memory);
  std::optional<FlippedLabels> flipped;
  std::optional<MarkedPictures> marked;
  if (place.samples != nullptr && attack_.kind == AttackKind::label_flip)
    place.samples = &flipped.emplace(*place.samples);
  if (place.samples != nullptr && attack_.kind == AttackKind::backdoor) {
    place.samples = &marked.emplace(*place.samples, place.workspace.backbone, attack_.target,
                                    MarkedPictures::Which::every_second);
  }
  honest_->work(node, plan, place, report);
}

std::vector<Letter> AttackPhase::letters(const Node& node, const RoundPlan& plan) const {
  if (!acts(node, plan)) return honest_->letters(node, plan);
  std::vector<Letter> forged;
  for (const auto& letter : honest_->letters(node, plan)) {
    AttackerSight sight{.own = copy_of(letter.tensors),
                        .before = take_all(kBefore, node.draft),
                        .began = take_all(kBegan, node.memory),
                        .seen = seen_letters(node.memory),
                        .most_prompts = node.most_prompts,
                        .orders_prompts = !traits_of(merge_).transports};
    for (const auto& [name, tensor] : take_all(kStale, node.memory)) sight.own[name] = tensor;
    const double strength = attack_.acting_strength();
    if (attack_.kind == AttackKind::dissensus) {
      for (auto& split : split_letters(letter, sight, strength)) forged.push_back(std::move(split));
    } else {
      RandomStream random(seed_, "attack", node.id, plan.round);
      forged.push_back(letter_of(letter.to, forge(attack_.kind, sight, strength, random)));
    }
  }
  return forged;
}

void AttackPhase::absorb(Node& node, const Inbox& inbox, const RoundPlan& plan, NodeReport& report) const {
  if (attack_.row().sees_neighbours && is_attacker(node, plan)) {
    forget(kSeen, node.memory);
    forget(kBegan, node.memory);
    put(kBegan, take_all(kBefore, node.draft), node.memory);
    for (const auto& message : inbox.messages)
      for (const auto& [name, tensor] : message.tensors)
        node.memory[fmt::format("{}{}/{}", kSeen, message.sender(), name)] = {tensor.shape, tensor.values};
  }
  honest_->absorb(node, inbox, plan, report);
}

}  // namespace dfrost
