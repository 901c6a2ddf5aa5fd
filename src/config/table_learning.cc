#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/fields.h"
#include "config/methods.h"

namespace dfrost::fields {
namespace {

// The method's name is a word of the table of methods; the RunConfig keeps the name itself.
Field method_word() {
  WordField field;
  for (const auto& method : method_presets()) field.words.push_back(method.name);
  field.set = [words = field.words](RunConfig& config, std::size_t index) {
    config.method.name = words.at(index);
  };
  field.get = [words = field.words](const RunConfig& config) {
    std::size_t index = 0;
    while (index < words.size() && words[index] != config.method.name) ++index;
    return index;
  };
  return field;
}

std::vector<ConfigKey> method_keys() {
  return {
      {.section = "method",
       .name = "name",
       .field = method_word(),
       .comment = "a preset; keys given in the sections below win over what it sets",
       .explanation =
           "Wherever in the file they stand. Optimizer, steps, merge of the prompts and merge of the head "
           "combine freely: `name = \"dfrost\"` with `merge.kind = \"average\"` is Adam with averaging.",
       .paper = "§Experiment Setup, Baselines; appendix, Comparison with Improved Baselines (the + methods)",
       .main = true},
      {.section = "method",
       .name = "cooperation",
       .field = word(DFROST_AT(method.cooperation), words({Cooperation::peers, Cooperation::none,
                                                           Cooperation::central, Cooperation::server})),
       .comment = "peers: exchange and merge; none: each alone; central: one has all data; server: a star",
       .explanation =
           "none and central are the lower and the upper bound that a method is to be judged by; they look "
           "at neither [network] nor [merge]. server: each round it sends its state to the "
           "network.active_clients that take part, they train it and send it back, and it merges what came, "
           "weighted by pictures; of [network] only the faults count. Scores are those of its state."},
      {.section = "method",
       .name = "round",
       .field = word(DFROST_AT(method.round),
                     words({RoundKind::update, RoundKind::dgd, RoundKind::d2, RoundKind::ntk})),
       .comment = "update: train, then merge; dgd, d2: one gradient step a round; ntk: kernel steps",
       .explanation =
           "dgd: decentralized gradient descent (Yuan 2016): merge, then a step along the "
           "gradient taken before the "
           "merge. d2: D² (Tang 2018): the step is corrected by the last round's state and "
           "gradient, then merge; it "
           "needs eigenvalues of the mixing matrix W above -1/3 and takes (I + W)/2 where they "
           "are not, and a graph "
           "that stays the same (network.static). ntk: NTK-DFL (Thompson 2025): heads are averaged, "
           "neighbours "
           "send the Jacobians of their outputs there, and the head moves along their kernel; see [ntk]."},
      {.section = "method",
       .name = "gradient",
       .field = word(DFROST_AT(method.gradient), words({GradientImages::all, GradientImages::batch})),
       .comment = "dgd, d2: of all pictures of a client, or of one batch drawn each round",
       .explanation = ""},
  };
}

std::vector<ConfigKey> ntk_keys() {
  return {
      {.section = "ntk",
       .name = "rate",
       .field = positive(DFROST_AT(ntk.rate)),
       .comment = "time that one step takes, in the first round",
       .explanation = "The learning rate of the gradient descent that the kernel stands for."},
      {.section = "ntk",
       .name = "decay",
       .field = not_negative(DFROST_AT(ntk.decay)),
       .comment = "how it falls: rate times e^(-decay · rounds before)",
       .explanation = ""},
      {.section = "ntk",
       .name = "steps",
       .field = counts(DFROST_AT(ntk.steps), 1, 100'000),
       .comment = "numbers of steps to choose from: that with the lowest loss of the outputs as they moved",
       .explanation =
           "Ascending. The loss is that of the pictures whose Jacobians came, by their outputs after so "
           "many steps."},
      {.section = "ntk",
       .name = "relative_tolerance",
       .field = positive(DFROST_AT(ntk.relative_tolerance)),
       .comment = "of the solver of the outputs' movement",
       .explanation =
           "Dormand and Prince's Runge-Kutta pair of orders 5(4), steps as long as both tolerances "
           "allow. Larger ones are faster."},
      {.section = "ntk",
       .name = "absolute_tolerance",
       .field = positive(DFROST_AT(ntk.absolute_tolerance)),
       .comment = "of the same",
       .explanation = ""},
      {.section = "ntk",
       .name = "pictures",
       .field = count(DFROST_AT(ntk.pictures), 1, 65'536),
       .comment = "of a client whose Jacobians are taken in a round, at most; drawn anew each round",
       .explanation =
           "Bounds messages, which grow with it, and the kernel, whose side is this times one more "
           "than there are neighbours."},
      {.section = "ntk",
       .name = "prompts",
       .field = word(DFROST_AT(ntk.prompts), words({NtkPrompts::frozen, NtkPrompts::trained})),
       .comment = "prompts stay as they were drawn, or the usual update goes before and they are merged",
       .explanation = "trained: [train] says how, of prompts and head alike, before the heads are averaged."},
  };
}

std::vector<std::string_view> optimizer_titles() {
  std::vector<std::string_view> titles;
  for (const auto kind : optimizer_kinds()) titles.push_back(title_of(kind));
  return titles;
}

std::vector<ConfigKey> train_keys() {
  return {
      {.section = "train",
       .name = "optimizer",
       .field = word(DFROST_AT(train.optimizer.kind), words(optimizer_kinds())),
       .comment = fmt::format("what makes a step of a gradient: {}", fmt::join(optimizer_titles(), ", or ")),
       .explanation = "",
       .paper = "appendix, Hyperparameter Settings"},
      {.section = "train",
       .name = "optimizer_state",
       .field =
           word(DFROST_AT(train.optimizer_state), words({OptimizerMemory::fresh, OptimizerMemory::kept})),
       .comment = "moments and steps of a client: start at zero each round, or go on",
       .explanation =
           "The paper does not say which. A merge changes what a prompt is, and so what moments kept by "
           "index belong to. What is kept stays the client's own, is part of checkpoints and takes as much "
           "memory as the trained values once (momentum) or twice (Adam). Plain SGD has none."},
      {.section = "train",
       .name = "learning_rate",
       .field = positive(DFROST_AT(train.optimizer.learning_rate)),
       .comment = "of prompts and head alike",
       .explanation = "",
       .paper = "§Experiment Setup: 1e-4"},
      {.section = "train",
       .name = "momentum",
       .field = share_below_one(DFROST_AT(train.optimizer.momentum)),
       .comment = "sgd",
       .explanation = "",
       .paper = "appendix, Hyperparameter Settings: 0.99 for DFedAvgM"},
      {.section = "train",
       .name = "beta1",
       .field = share_below_one(DFROST_AT(train.optimizer.beta1)),
       .comment = "adam: memory of the gradient",
       .explanation = ""},
      {.section = "train",
       .name = "beta2",
       .field = share_below_one(DFROST_AT(train.optimizer.beta2)),
       .comment = "adam: memory of its square",
       .explanation = ""},
      {.section = "train",
       .name = "epsilon",
       .field = positive(DFROST_AT(train.optimizer.epsilon)),
       .comment = "adam: added to the root of the square",
       .explanation = ""},
      {.section = "train",
       .name = "sam_radius",
       .field = not_negative(DFROST_AT(train.optimizer.sam_radius)),
       .comment = "radius of the adaptive SAM ascent before each step; 0: none",
       .explanation = "Every step then costs two gradients. Goes with every optimizer.",
       .paper = "appendix, Hyperparameter Settings: 0.01"},
      {.section = "train",
       .name = "batch",
       .field = count(DFROST_AT(train.batch), 1, 65'536),
       .comment = "pictures per step",
       .explanation = "",
       .paper = "§Experiment Setup: 16"},
      {.section = "train",
       .name = "epochs",
       .field = count(DFROST_AT(train.epochs), 1, 1'000'000),
       .comment = "passes over a client's pictures in a round",
       .explanation = "",
       .paper = "§Experiment Setup: 5; D-PSGD 1"},
      {.section = "train",
       .name = "max_steps",
       .field = count(DFROST_AT(train.max_steps)),
       .comment = "batches of a client in a round, at most: its passes end there; 0: no limit",
       .explanation =
           "With `name = \"d-psgd\"`, 1 is the other reading of the paper, which says one mini-batch as well "
           "as one epoch. Each round has an order of its own, so that in time all pictures are seen.",
       .paper = "appendix, Decentralized Federated Learning Baselines: one mini-batch in D-PSGD"},
      {.section = "train",
       .name = "mask",
       .field = word(DFROST_AT(train.mask), words({ClassMask::domain, ClassMask::none})),
       .comment = "domain: only the classes of the picture's own domain compete in the loss",
       .explanation =
           "The published accuracies are only comparable with it. Scores are always reported with and "
           "without it."},
  };
}

std::vector<ConfigKey> prompt_step_keys() {
  return {
      {.section = "train",
       .name = "prompt_epochs",
       .field = count(DFROST_AT(train.prompt_epochs), 0, TrainOptions::kAllEpochs),
       .comment = "prompts move in the first so many epochs of a round, then rest; 0: never",
       .explanation =
           "While they rest only the head learns, from features that one forward pass gave: an epoch then "
           "costs next to nothing. What chooses from a pool rests with them. The default is as good as all."},
      {.section = "train",
       .name = "prompt_rate",
       .field = not_negative(DFROST_AT(train.prompt_rate)),
       .comment = "of prompts, times the learning rate",
       .explanation = "A client with few classes can satisfy its loss by prompts that make everything look "
                      "like them; a rate far below 1 keeps prompts from running away."},
      {.section = "train",
       .name = "prompt_pull",
       .field = not_negative(DFROST_AT(train.prompt_pull)),
       .comment = "pull of prompts towards where the round began; 0: none",
       .explanation = "Times half their squared way since then, added to the loss: a proximal term."},
      {.section = "train",
       .name = "head_coordinates",
       .field = word(DFROST_AT(train.frame.coordinates),
                     words({HeadCoordinates::raw, HeadCoordinates::centred, HeadCoordinates::whitened})),
       .comment = "in which a client trains its head: features as they are, centred, or whitened",
       .explanation =
           "A head is turned into these coordinates, trained there and turned back: what is sent, merged and "
           "kept always is a head of the features as they are. Under label skew raw features make a client "
           "with few classes move all rows along what its pictures have in common."},
      {.section = "train",
       .name = "head_moments",
       .field = word(DFROST_AT(train.frame.moments),
                     words({MomentsOf::network, MomentsOf::backbone, MomentsOf::own})),
       .comment = "coordinates: moments of all clients' features, of generic pictures, or of its own",
       .explanation =
           "network: before the first round clients exchange count, mean and, for whitened, covariance of "
           "their features under the first prompts, and mix them by the mixing matrix. Neighbours learn "
           "them: the mean feature and covariance of a client's pictures, mixed with others' from the second "
           "exchange on. backbone: moments-SIZE.safetensors beside the weights, SIZE being the image size in "
           "use, which 'dfrost backbone moments' makes of any pictures; nothing is exchanged and nothing "
           "given away. It comes with frost-mini for 32 and 64 pixels."},
      {.section = "train",
       .name = "moment_rounds",
       .field = count(DFROST_AT(train.frame.rounds), 1, 1'000),
       .comment = "coordinates: exchanges that mix the moments, before the first round",
       .explanation = "Of whitened ones each is half the square of the head's inputs in numbers."},
      {.section = "train",
       .name = "moment_shrinkage",
       .field = not_negative(DFROST_AT(train.frame.shrinkage)),
       .comment = "whitened: share of the covariance's mean eigenvalue that is added to all",
       .explanation = "The larger, the nearer to centred coordinates, but for their scale."},
      {.section = "train",
       .name = "moment_noise",
       .field = not_negative(DFROST_AT(train.frame.noise)),
       .comment = "coordinates: noise on a client's moments, as a share of their size; 0: none",
       .explanation =
           "Normal, its deviation being so many times the root mean square of what it is added to. A "
           "simulation draws it from run.seed, to be repeated."},
  };
}

std::vector<ConfigKey> prompt_keys() {
  return {
      {.section = "prompts",
       .name = "count",
       .field = count(DFROST_AT(prompts.count), 0, 4096),
       .comment = "prompts that a picture sees; 0: none, clients learn and exchange heads alone",
       .explanation = "",
       .paper = "§Experiment Setup: 10"},
      {.section = "prompts",
       .name = "counts",
       .field = counts(DFROST_AT(prompts.counts), 1, 4096),
       .comment = "a number for each client instead, repeated as needed; []: all alike",
       .explanation =
           "[10, 5] gives clients 0, 2, 4 … ten prompts and the others five. Sets of different sizes can "
           "be merged by ot and barycenter; an average by index refuses them."},
      {.section = "prompts",
       .name = "pool",
       .field = count(DFROST_AT(prompts.pool), 0, 65'536),
       .comment = "prompts that a client holds, of which each picture uses the most relevant; 0: no pool",
       .explanation =
           "Relevance is the cosine of a prompt and the projected feature of the picture without prompts.",
       .paper = "appendix, Comparison with Improved Baselines: 20"},
      {.section = "prompts",
       .name = "init",
       .field = word(DFROST_AT(prompts.init), words({PromptInit::shared, PromptInit::independent})),
       .comment = "first values: the same at all clients, or drawn by each",
       .explanation =
           "Uniform in ±sqrt(6 / (3·patch² + width)). The paper does not say which; with shared first "
           "values and small steps prompts keep their places, and an average by index does as well."},
      {.section = "prompts",
       .name = "keys",
       .field = word(DFROST_AT(prompts.keys), words({PoolKeys::prompts, PoolKeys::separate})),
       .comment = "pool: what pictures are compared with, the prompts or keys trained beside them",
       .explanation = "separate is L2P's form (Wang et al. 2022)."},
      {.section = "prompts",
       .name = "choice",
       .field = word(DFROST_AT(prompts.choice), words({PoolChoice::per_input, PoolChoice::per_batch})),
       .comment = "pool: each picture chooses, or a batch votes",
       .explanation = ""},
      {.section = "prompts",
       .name = "similarity_weight",
       .field = number(DFROST_AT(prompts.similarity_weight)),
       .comment = "pool: times the cosines to the chosen, added to the loss",
       .explanation =
           "-0.5 is L2P's pull, 0.01 PFPT's term. At 0 the projection stays as it was drawn, since the "
           "choice itself has no gradient."},
  };
}

std::vector<ConfigKey> head_keys() {
  return {
      {.section = "head",
       .name = "kind",
       .field = word(DFROST_AT(head.kind), words({HeadKind::linear, HeadKind::pfpt, HeadKind::mlp})),
       .comment = "what turns the feature of a picture into classes",
       .explanation =
           "linear: one linear map. pfpt: on the checkpoint's own frozen logits, 512 hidden units with "
           "dropout; most likely what the paper ran. mlp: hidden layers with ReLU."},
      {.section = "head",
       .name = "hidden",
       .field = counts(DFROST_AT(head.hidden), 1, 65'536),
       .comment = "mlp: sizes of the hidden layers",
       .explanation = ""},
      {.section = "head",
       .name = "dropout",
       .field = share_below_one(DFROST_AT(head.dropout)),
       .comment = "pfpt: share of hidden values dropped in training",
       .explanation = ""},
  };
}

}  // namespace

std::vector<ConfigKey> learning_keys() {
  std::vector<ConfigKey> all;
  for (const auto& keys :
       {method_keys(), ntk_keys(), train_keys(), prompt_step_keys(), prompt_keys(), head_keys()})
    all.insert(all.end(), keys.begin(), keys.end());
  return all;
}

}  // namespace dfrost::fields
