// LocalUpdate: what one client does between two merges. Epochs of shuffled mini-batches, the last of which
// may be smaller, or only the first few of them; the optimizer starts fresh, or goes on. Where pictures are
// protected, batches are drawn otherwise, and gradients noised (train/private_batches.h). In the epochs in
// which prompts rest, the head learns from features that one forward pass gave for all of them. Runs on the
// calling thread alone, since clients run side by side, and everything random in it comes from the key: same
// key, state and data, same bytes.
#pragma once

#include <vector>

#include "train/client_state.h"
#include "train/head_frame.h"
#include "train/loss.h"
#include "train/optimizer.h"
#include "train/private_batches.h"
#include "train/random_key.h"
#include "train/sample_source.h"
#include "train/training_step.h"

namespace dfrost {

struct TrainOptions {
  OptimizerOptions optimizer = {};
  OptimizerMemory optimizer_state = OptimizerMemory::fresh;
  std::size_t batch = 16;     // images per step
  std::size_t epochs = 5;     // passes over the client's data in a round
  std::size_t max_steps = 0;  // batches in a round, at most: the passes end there; 0: no limit
  ClassMask mask = ClassMask::domain;
  // Of prompts, and of what chooses among them.
  std::size_t prompt_epochs = kAllEpochs;  // they move in the first so many epochs of a round, and then rest
  double prompt_rate = 1;                  // times the learning rate
  double prompt_pull = 0;  // times half their squared way since the round began, added to the loss
  HeadFrameOptions frame = {};
  PictureNoise pictures = {};  // with it, as many steps as without, on batches of `batch` pictures on average
  // Memory for features while prompts rest; where they take more, they are computed at every step. Changes no
  // result.
  std::size_t rest_bytes = std::size_t{256} << 20;

  static constexpr std::size_t kAllEpochs = 1'000'000;
  void validate() const;
};

struct LocalUpdateSummary {
  std::vector<double> epoch_loss;  // mean over the images seen in each epoch, before the step that saw them
  std::size_t steps = 0;
  std::size_t images = 0;  // seen, each at most once per epoch
  // Every trained value, and what is kept of the optimizer, still is a number: else training diverged.
  bool finite = true;
};

// With SAM both gradients of a step see the same images and the same dropout: one function, at two places.
LocalUpdateSummary local_update(const AdapterOptions& adapter, ClientState& state, const SampleSource& source,
                                const TrainOptions& options, const RandomKey& key, Workspace& workspace);

}  // namespace dfrost
