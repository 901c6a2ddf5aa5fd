// Hostile clients of an experiment ([attack]): what they do, who they are, from when on. run/attack_phase.h
// does it. Each kind's row says what such a client sees; none sees more than a peer of a real federation
// does: its own pictures and state, and the letters that its neighbours sent it.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/choice.h"

namespace dfrost {

enum class AttackKind {
  none,
  sign_flip,         // its update with the sign turned
  noise,             // its state with Gaussian noise
  inner_product,     // against the mean update of those around it (Xie et al. 2020)
  little_is_enough,  // the mean update less some deviations, value by value (Baruch et al. 2019)
  mimic,             // what the oddest of its neighbours sent (Karimireddy et al. 2022)
  dissensus,         // each neighbour's state pushed away from its neighbours' (He et al. 2022)
  label_flip,        // honest, trained on wrong labels
  far_prompts,       // a few prompts very far away
  crowd,             // many copies of one prompt
  zero,              // nothing but zeros
  stale,             // what it began with, for ever
  backdoor,          // honest, trained to take pictures with a mark in the corner for one class
};

struct AttackKindRow {
  AttackKind value;
  std::string_view word;
  double usual_strength = 1;     // what attack.strength = 0 stands for
  bool sees_neighbours = false;  // needs the letters of the round before
  bool poisons_data = false;     // what it sends is honest, what it trains on is not
};

inline constexpr AttackKindRow kAttackKinds[] = {
    {.value = AttackKind::none, .word = "none"},
    {.value = AttackKind::sign_flip, .word = "sign-flip", .usual_strength = 4},
    {.value = AttackKind::noise, .word = "noise"},
    {.value = AttackKind::inner_product,
     .word = "inner-product",
     .usual_strength = 4,
     .sees_neighbours = true},
    {.value = AttackKind::little_is_enough,
     .word = "little-is-enough",
     .usual_strength = 1.5,
     .sees_neighbours = true},
    {.value = AttackKind::mimic, .word = "mimic", .sees_neighbours = true},
    {.value = AttackKind::dissensus, .word = "dissensus", .sees_neighbours = true},
    {.value = AttackKind::label_flip, .word = "label-flip", .poisons_data = true},
    {.value = AttackKind::far_prompts, .word = "far-prompts", .usual_strength = 100},
    {.value = AttackKind::crowd, .word = "crowd", .usual_strength = 10},
    {.value = AttackKind::zero, .word = "zero"},
    {.value = AttackKind::stale, .word = "stale"},
    {.value = AttackKind::backdoor, .word = "backdoor", .poisons_data = true},
};

struct AttackSection {
  AttackKind kind = AttackKind::none;
  double share = 0.2;                     // of the clients, drawn from the seed
  std::vector<std::size_t> clients = {};  // these instead, where any are named
  std::size_t from_round = 1;
  double strength = 0;     // 0: the kind's usual one
  std::size_t target = 0;  // backdoor: the class, counted within each domain

  bool is_on() const { return kind != AttackKind::none; }
  const AttackKindRow& row() const { return row_of(kAttackKinds, kind); }
  double acting_strength() const { return strength > 0 ? strength : row().usual_strength; }
};

}  // namespace dfrost
