// What is trained around the frozen backbone: a prompt set, or a pool of prompts from which every image takes
// the most relevant ones, and a classification head. Options alone; ClientState holds the values.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "dfrost/geometry.h"

namespace dfrost {

enum class HeadKind {
  linear,  // CLS feature → Linear classes
  pfpt,    // the checkpoint's own frozen logits → Linear 512 → dropout → Linear classes
  mlp,     // CLS feature → (Linear, ReLU) per hidden size → Linear classes
};
std::string_view to_string(HeadKind kind);
HeadKind parse_head_kind(std::string_view word);

struct HeadOptions {
  HeadKind kind = HeadKind::linear;
  std::size_t classes = 0;                  // of all domains together
  std::vector<std::size_t> hidden = {512};  // mlp: the sizes of the hidden layers
  double dropout = 0.5;                     // pfpt: the share of hidden values dropped in training, [0, 1)

  void validate(const Geometry& geometry) const;
};

enum class PromptInit {
  shared,       // the same draw at all clients
  independent,  // each client its own
};
std::string_view to_string(PromptInit init);

enum class PoolKeys {
  prompts,   // a prompt is its own key
  separate,  // keys are trained beside the prompts, as L2P has it
};
std::string_view to_string(PoolKeys keys);
PoolKeys parse_pool_keys(std::string_view word);

enum class PoolChoice {
  per_input,  // every image takes its own prompts
  per_batch,  // the images of a batch vote, and all take the prompts with most votes
};
std::string_view to_string(PoolChoice choice);
PoolChoice parse_pool_choice(std::string_view word);

struct PromptOptions {
  std::size_t count = 10;  // prompts that an image sees; 0: none, the head alone is trained
  std::size_t pool = 0;    // prompts that the client holds; 0: count, and then nothing is chosen
  PromptInit init = PromptInit::shared;
  PoolKeys keys = PoolKeys::prompts;
  PoolChoice choice = PoolChoice::per_input;
  // Times the summed cosine of queries and chosen keys, mean over images, added to the loss: −0.5 is L2P's
  // pull, +0.01 PFPT's term. At 0 nothing trains the query projection and separate keys: choosing is a hard
  // decision that no gradient passes.
  double similarity_weight = 0;
  // The pool changes its size from round to round: images choose from it even while they must take all.
  bool grows = false;

  std::size_t held() const { return pool == 0 ? count : pool; }
  bool selects() const { return grows || held() > count; }
  void validate() const;
};

struct AdapterOptions {
  PromptOptions prompts = {};
  HeadOptions head = {};

  void validate(const Geometry& geometry) const;
};

}  // namespace dfrost
