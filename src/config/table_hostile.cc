#include "config/attack.h"
#include "config/fields.h"

namespace dfrost::fields {
namespace {

std::vector<ConfigKey> attack_keys() {
  return {
      {.section = "attack",
       .name = "kind",
       .field = word(DFROST_AT(attack.kind), words(kAttackKinds)),
       .comment = "what hostile clients do; none: there are none",
       .explanation =
           "sign-flip: send the state before training less the update. noise: add Gaussian noise to what "
           "they send. inner-product, little-is-enough: send an update against, or just within, those around "
           "them. mimic: repeat the oddest neighbour. dissensus: push each neighbour away from the others. "
           "label-flip, backdoor: train on wrong labels, or on pictures with a mark in the corner. "
           "far-prompts: a fifth of their prompts very far away. crowd: copies of one prompt, and more mass "
           "of "
           "every class than they have. zero: zeros. stale: the state they began with. They see their own "
           "pictures and state, and of others what their neighbours sent them in the round before."},
      {.section = "attack",
       .name = "share",
       .field = share_below_one(DFROST_AT(attack.share)),
       .comment = "of the clients that are hostile, drawn from the seed",
       .explanation = "Rounded to the nearest number of clients."},
      {.section = "attack",
       .name = "clients",
       .field = counts(DFROST_AT(attack.clients), 0, kMost),
       .comment = "these clients instead of a share",
       .explanation = "By number, from 0."},
      {.section = "attack",
       .name = "from_round",
       .field = count(DFROST_AT(attack.from_round), 1, kMost),
       .comment = "the first round in which they are hostile",
       .explanation = ""},
      {.section = "attack",
       .name = "strength",
       .field = not_negative(DFROST_AT(attack.strength)),
       .comment = "how hard; 0: what the kind usually takes",
       .explanation =
           "sign-flip, inner-product: the update times this (4). noise: deviation, in root mean squares of "
           "each tensor (1). little-is-enough: deviations (1.5). dissensus: of the way between a neighbour "
           "and the rest (1). far-prompts: in lengths of a prompt (100). crowd: times the mass of its "
           "classes "
           "(10). label-flip, backdoor: times the update (1)."},
      {.section = "attack",
       .name = "target",
       .field = count(DFROST_AT(attack.target), 0, 1'000'000),
       .comment = "backdoor: the class that a mark in the corner stands for",
       .explanation = "Counted within each domain from 0; beyond its last, from the first again."},
  };
}

std::vector<ConfigKey> prompt_defence_keys() {
  return {
      {.section = "defence",
       .name = "reject",
       .field = not_negative(DFROST_AT(merge.defence.reject)),
       .comment = "do not believe senders this many times as far from the rest as is usual; 0: believe all",
       .explanation =
           "By the median W2 of a sender's prompts to those of the others, the client's own among them. What "
           "a sender has that is not believed counts as if it had not come, heads too. 1 or more."},
      {.section = "defence",
       .name = "clip",
       .field = not_negative(DFROST_AT(merge.defence.clip.radius)),
       .comment = "ot, barycenter: move received prompts to within this W2 of the own; 0: no limit",
       .explanation =
           "Self-centred clipping, of sets: along the transport plan, so that order and number of prompts do "
           "not matter."},
      {.section = "defence",
       .name = "clip_share",
       .field = share_below_one(DFROST_AT(merge.defence.clip.share)),
       .comment = "clip to the distance that all but this share of the neighbours keep; 0: off",
       .explanation = "The share is rounded up to a number of neighbours, in every merge anew."},
      {.section = "defence",
       .name = "trim",
       .field = share_below_one(DFROST_AT(merge.trim)),
       .comment = "ot: leave out the share of mass that is furthest from the merged prompts; 0: none",
       .explanation = "Partial transport: in every step the rows that cost most lose their mass, and what "
                      "stays is scaled to one."},
      {.section = "defence",
       .name = "median",
       .field = not_negative(DFROST_AT(merge.median)),
       .comment = "ot: geometric medians; rows count in full within this many usual distances; 0: means",
       .explanation =
           "Weiszfeld's steps. The usual distance is the median of received rows to the nearest own prompt. "
           "1 is a good value; towards 0 all rows are softened, and what is large changes nothing."},
  };
}

std::vector<ConfigKey> head_defence_keys() {
  return {
      {.section = "defence",
       .name = "head_clip",
       .field = not_negative(DFROST_AT(merge.defence.head_clip.radius)),
       .comment = "heads: move received ones to within this distance of the own; 0: no limit",
       .explanation =
           "All keys named head_ are for whatever is averaged by index: heads, and with merge.kind average "
           "prompts too. All of it counts as one vector."},
      {.section = "defence",
       .name = "head_clip_share",
       .field = share_below_one(DFROST_AT(merge.defence.head_clip.share)),
       .comment = "heads: clip to the distance that all but this share of the neighbours keep; 0: off",
       .explanation = ""},
      {.section = "defence",
       .name = "head_nearest",
       .field = share_below_one(DFROST_AT(merge.defence.head_nearest)),
       .comment = "heads: leave out the share of neighbours that are furthest from the own; 0: none",
       .explanation =
           "Nearest-neighbour averaging (Farhadkhani et al. 2023). Rounded up to a number of neighbours, "
           "whose weight goes to the client's own."},
      {.section = "defence",
       .name = "head_trim",
       .field = NumberField{place<double>(DFROST_AT(merge.defence.head_trim)), 0, 0.5, false, true},
       .comment = "heads: value by value, leave out this share of weight from either end; 0: none",
       .explanation = "A trimmed mean; with merge.head class-mass of the rows as they weigh."},
      {.section = "defence",
       .name = "head_median",
       .field = not_negative(DFROST_AT(merge.defence.head_median)),
       .comment = "heads: geometric median; full weight within this many usual distances; 0: mean",
       .explanation =
           "The usual distance is the median of the received ones to the own. With merge.head class-mass row "
           "by row. 1 is a good value."},
      {.section = "defence",
       .name = "mass_cap",
       .field = not_negative(DFROST_AT(merge.defence.mass_cap)),
       .comment = "class-mass: most pictures of a class that a sender is believed to have; 0: any",
       .explanation = "What a sender says of its classes is its own word: this bounds what a lie brings."},
  };
}

}  // namespace

std::vector<ConfigKey> hostile_keys() {
  std::vector<ConfigKey> all;
  for (const auto& keys : {attack_keys(), prompt_defence_keys(), head_defence_keys()})
    all.insert(all.end(), keys.begin(), keys.end());
  return all;
}

}  // namespace dfrost::fields
