#include "config/fields.h"
#include "merge/merge_kinds.h"
#include "merge/merge_words.h"

namespace dfrost::fields {
namespace {

std::string meanings_of_kinds() {
  std::vector<std::string> meanings;
  for (const auto& kind : kMergeKinds) meanings.push_back(fmt::format("{}: {}.", kind.word, kind.meaning));
  return fmt::format("{}", fmt::join(meanings, " "));
}

std::vector<ConfigKey> ot_keys() {
  return {
      {.section = "merge",
       .name = "kind",
       .field = word(DFROST_AT(merge.kind), words(kMergeKinds)),
       .comment = "how received prompt sets become one",
       .explanation = meanings_of_kinds(),
       .paper = "§Decentralized Wasserstein Prompt Tuning, eq. full_objective"},
      {.section = "merge",
       .name = "epsilon",
       .field = positive(DFROST_AT(merge.epsilon)),
       .comment = "ot: softness of the assignment",
       .explanation = "Towards 0 the merge becomes k-means; large, all prompts become the mean.",
       .paper = "appendix, Hyperparameter Settings: 0.01"},
      {.section = "merge",
       .name = "lambda",
       .field = not_negative(DFROST_AT(merge.lambda)),
       .comment = "ot: weight of the L2 term",
       .explanation =
           "Pulls every prompt towards the origin, by about lambda times the number of prompts in each "
           "merge (1 % with the defaults); see merge.shrink.",
       .paper = "appendix, Hyperparameter Settings: 0.001"},
      {.section = "merge",
       .name = "sigma2",
       .field = positive(DFROST_AT(merge.sigma2)),
       .comment = "ot: scale of the cost, |z - phi|^2 / (2 sigma2)",
       .explanation = "",
       .paper = "appendix, Hyperparameter Settings: 1"},
      {.section = "merge",
       .name = "steps",
       .field = count(DFROST_AT(merge.steps), 1, 1'000'000),
       .comment = "ot: alternations of plan and prompts",
       .explanation = "",
       .paper = "appendix, Hyperparameter Settings: 50"},
      {.section = "merge",
       .name = "epsilon_init",
       .field = not_negative(DFROST_AT(merge.epsilon_init)),
       .comment = "ot: anneal epsilon from here over the steps; 0: constant",
       .explanation = "Geometrically.",
       .paper = "appendix, Entropy Value Selection Strategies"},
      {.section = "merge",
       .name = "tolerance",
       .field = not_negative(DFROST_AT(merge.tolerance)),
       .comment = "a step that moves less counts as converged",
       .explanation = ""},
      {.section = "merge",
       .name = "early_stop",
       .field = flag(DFROST_AT(merge.early_stop)),
       .comment = "ot: leave at the first such step",
       .explanation = "The paper always takes all steps."},
      {.section = "merge",
       .name = "init",
       .field = word(DFROST_AT(merge.init), words(kMergeInits)),
       .comment = "ot: start from own prompts, the last merge's, or k-means++ seeds of all",
       .explanation = "The paper does not say."},
      {.section = "merge",
       .name = "dead",
       .field = word(DFROST_AT(merge.dead), words(kDeadPrompts)),
       .comment = "ot: a prompt without mass becomes zero, stays, or moves to the worst-served",
       .explanation = "The formula gives 0/(0 + lambda) = 0. Dead prompts are counted in the records "
                      "whatever the choice."},
      {.section = "merge",
       .name = "shrink",
       .field = word(DFROST_AT(merge.shrink), words(kShrinks)),
       .comment = "ot: off computes as if lambda were 0",
       .explanation = ""},
      {.section = "merge",
       .name = "form",
       .field = word(DFROST_AT(merge.form), words(kMergeForms)),
       .comment = "ot: on products of the rows or on the rows; auto: the cheaper",
       .explanation = "The same merge up to rounding."},
      {.section = "merge",
       .name = "metric",
       .field = word(DFROST_AT(merge.metric), words(kMergeMetrics)),
       .comment = "ot, barycenter: distances of prompts, or of the keys and values made of them",
       .explanation =
           "embedding: the squared distance of two prompts. first-block: that of their keys and values in "
           "the "
           "backbone's first block, by its weights and the scale of the norm before it, without the norm's "
           "division by a token's own length; scaled so that a random difference costs the same on average. "
           "Merged prompts are means of prompts in either."},
      {.section = "merge",
       .name = "weights",
       .field = word(DFROST_AT(merge.weights),
                     words({SenderWeights::equal, SenderWeights::mixing, SenderWeights::mass})),
       .comment = "senders' prompts weigh the same, as in the mixing matrix, or by that times pictures",
       .explanation =
           "A sender's prompts share its weight, however many it sent. An average by index takes 'equal' for "
           "'mixing'. mass: mixing weight times how many pictures stand behind a sender, which is the sum of "
           "the masses that travel with merge.head class-mass, and needs that; where nobody has any, as "
           "mixing. mass_floor and mass_power hold for it as for rows.",
       .paper = "eq. full_objective: equal"},
      {.section = "merge",
       .name = "head",
       .field =
           word(DFROST_AT(merge.head), words({HeadMerge::average, HeadMerge::own, HeadMerge::class_mass})),
       .comment = "heads are averaged by the mixing matrix, kept, or merged class by class",
       .explanation =
           "class-mass: each row of the last layer carries a mass, how many pictures of its class stand "
           "behind "
           "it, and rows are averaged by mixing weight times mass; the mass travels with them. A client that "
           "has never seen a class then does not pull its row back. Neighbours learn how many pictures of "
           "each "
           "class stand behind a client's rows: merge.mass_rounding and mass_noise blur that. Layers before "
           "the "
           "last have no rows of classes, and are averaged."},
  };
}

std::vector<ConfigKey> mass_keys() {
  return {
      {.section = "merge",
       .name = "mass_decay",
       .field = share(DFROST_AT(merge.mass.decay)),
       .comment = "class-mass: what is left of a class's mass from round to round",
       .explanation = "A client's own pictures always count in full. At 0 nothing but them does."},
      {.section = "merge",
       .name = "mass_power",
       .field = not_negative(DFROST_AT(merge.mass.power)),
       .comment = "class-mass: rows weigh (mass_floor + mass) to this power",
       .explanation = "At 0 all weigh alike, as with average."},
      {.section = "merge",
       .name = "mass_floor",
       .field = not_negative(DFROST_AT(merge.mass.floor)),
       .comment = "class-mass: pictures that everybody is taken to have of every class",
       .explanation = "Few pictures make noisy rows; the larger this is, the more rows are averaged."},
      {.section = "merge",
       .name = "mass_rounding",
       .field = count(DFROST_AT(merge.mass.rounding), 1, 1'000'000),
       .comment = "class-mass: own counts are told as the nearest multiple of this",
       .explanation = "A class of which a client has less than half of it is not told at all."},
      {.section = "merge",
       .name = "mass_noise",
       .field = not_negative(DFROST_AT(merge.mass.noise)),
       .comment = "class-mass: scale of Laplace noise on own counts; 0: none",
       .explanation =
           "Drawn once for each client and class, so that it does not average out. A simulation "
           "draws it from run.seed, to be repeated; whoever knows the seed can take it off again."},
  };
}

std::vector<ConfigKey> pool_keys() {
  return {
      {.section = "merge",
       .name = "pool",
       .field =
           word(DFROST_AT(merge.pool.kind), words({PoolMerge::fixed, PoolMerge::pfpt, PoolMerge::pass_on})),
       .comment = "pools of prompts that grow: by pfpt's aggregation, or passed on; fixed: merge.kind",
       .explanation =
           "pfpt: clients send the prompts that any of their pictures chose; the aggregation of PFPT (Weng "
           "et "
           "al. 2024) finds how many different ones there are, and all of them are the new pool. pass-on: a "
           "client keeps the prompts of its neighbours as they are beside its own, newest first, and passes "
           "them on. With either, pictures choose prompts.count from whatever the pool holds, and merge.kind "
           "and what belongs to it does not count.",
       .paper = "appendix, Decentralized Federated Learning Baselines"},
      {.section = "merge",
       .name = "pool_limit",
       .field = count(DFROST_AT(merge.pool.limit), 0, 65'536),
       .comment = "prompts in a pool that grows, at most; 0: no limit",
       .explanation =
           "Without a server pools grow by about the number of neighbours in every round, and the time of "
           "pfpt's aggregation by its cube. The records count what was dropped (dropped_prompts)."},
      {.section = "merge",
       .name = "pool_overflow",
       .field = word(DFROST_AT(merge.pool.overflow), words({PoolOverflow::drop, PoolOverflow::error})),
       .comment = "beyond pool_limit: drop what fewest senders use (pfpt) or the oldest, or stop",
       .explanation = ""},
      {.section = "merge",
       .name = "pool_passes",
       .field = count(DFROST_AT(merge.pool.passes), 1, 1'000'000),
       .comment = "pfpt: passes of the aggregation over all senders",
       .explanation = ""},
      {.section = "merge",
       .name = "pool_rate",
       .field = positive(DFROST_AT(merge.pool.rate)),
       .comment = "pfpt: learning rate of the aggregation's own Adam",
       .explanation = ""},
  };
}

std::vector<ConfigKey> evaluate_keys() {
  return {
      {.section = "evaluate",
       .name = "every",
       .field = count(DFROST_AT(evaluate.every)),
       .comment = "rounds between scorings; 0: only after the last, which is always scored",
       .explanation = "",
       .main = true},
      {.section = "evaluate",
       .name = "clients",
       .field = count(DFROST_AT(evaluate.clients)),
       .comment = "how many are scored, at most, spread over the domains; 0: all, as the paper does",
       .explanation =
           "Mean, spread, least and best are then of these alone, and the records say how many there were. "
           "8 clients on 200 pictures of five domains are 8,000 forward passes, about 1 % of a round of the "
           "paper's setting; all 50 on all 2,000 are 500,000, half of what training costs.",
       .main = true},
      {.section = "evaluate",
       .name = "samples",
       .field = count(DFROST_AT(evaluate.samples)),
       .comment = "test pictures of each domain, at most; 0: all, as the paper does",
       .explanation =
           "With 200 pictures of each of five domains the standard error of an accuracy near 80 % is 1.3 "
           "points: enough to watch a run, too few to publish.",
       .main = true},
      {.section = "evaluate",
       .name = "batch",
       .field = count(DFROST_AT(evaluate.batch), 1, 65'536),
       .comment = "pictures in one pass",
       .explanation = "Changes a result only where a batch votes for its prompts (prompts.choice)."},
      {.section = "evaluate",
       .name = "share",
       .field = NumberField{place<double>(DFROST_AT(evaluate.share)), 0, 1, true, false},
       .comment = "of a run's work that scoring may take; fewer test pictures are scored beyond; 1: no limit",
       .explanation =
           "Worked out before the run from these settings alone: a picture trained on counts as two that are "
           "scored. Never fewer than 60 pictures of each domain, and no limit where the settings do not say "
           "how "
           "many there are to train on. The paper's settings stay below the limit."},
      {.section = "evaluate",
       .name = "membership",
       .field = count(DFROST_AT(evaluate.membership)),
       .comment =
           "membership inference: pictures of each scored client to be told from held-out ones; 0: none",
       .explanation =
           "By their loss under what the client last sent, alone and less what other clients' models make of "
           "them (docs/explanation/privacy.md). Costs up to ten forward passes for each such picture."},
  };
}

std::vector<ConfigKey> diagnostics_keys() {
  return {
      {.section = "diagnostics",
       .name = "theory",
       .field = flag(DFROST_AT(diagnostics.theory)),
       .comment = "check Theorem 1 on every OT merge",
       .explanation =
           "The least movement of the steps must lie below the theorem's bound; a merge that breaks it is "
           "counted in the records.",
       .paper = "Theorem 1"},
      {.section = "diagnostics",
       .name = "merge_views",
       .field = count(DFROST_AT(diagnostics.merge_views)),
       .comment = "clients of each domain whose merges the report shows; 0: none",
       .explanation = "In rounds that evaluate, merges.jsonl gets their neighbourhood's prompts in two "
                      "dimensions and the transport plan. Changes no result."},
  };
}

}  // namespace

std::vector<ConfigKey> merge_section_keys() {
  std::vector<ConfigKey> all;
  for (const auto& keys : {ot_keys(), mass_keys(), pool_keys()})
    all.insert(all.end(), keys.begin(), keys.end());
  return all;
}

std::vector<ConfigKey> observer_keys() {
  auto all = evaluate_keys();
  for (const auto& key : diagnostics_keys()) all.push_back(key);
  return all;
}

}  // namespace dfrost::fields
