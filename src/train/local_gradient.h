// The gradient of a client's own loss where it stands, without a step: what DGD and D² exchange around. The
// mean over all of the client's images, or over one mini-batch of them drawn by the key. Batches are summed
// in double in a fixed order; runs on the calling thread.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "train/client_state.h"
#include "train/loss.h"
#include "train/random_key.h"
#include "train/sample_source.h"
#include "train/training_step.h"

namespace dfrost {

enum class GradientImages {
  all,    // the client's whole data
  batch,  // one mini-batch of it, another in each round
};
std::string_view to_string(GradientImages images);

struct GradientOptions {
  GradientImages images = GradientImages::all;
  std::size_t batch = 16;  // images per pass
  ClassMask mask = ClassMask::domain;
  double prompt_rate = 1;     // times the gradient of prompts, and of what chooses among them
  bool prompts_rest = false;  // it is zero, and costs nothing
};

struct GradientSummary {
  double loss = 0;         // mean over the images seen
  std::size_t images = 0;  // seen
};

// `gradient` is laid out as the state's values. A client without images has the gradient zero.
GradientSummary local_gradient(const AdapterOptions& adapter, const ClientState& state,
                               const SampleSource& source, const GradientOptions& options,
                               const RandomKey& key, Workspace& workspace, std::span<float> gradient);

}  // namespace dfrost
