// Which prompts of a pool an image uses (the "+" methods; Wang et al. 2022, L2P): query = projection · frozen
// CLS feature of the image without prompts; relevance = cosine of query and key; the `count` most relevant
// are used, ties going to the lower index. A zero vector (a dead prompt) has cosine 0 to everything and no
// gradient. The choice itself is a hard decision without gradient: the projection and separate keys are
// trained by the similarity term of the loss alone, and where its weight is 0 they stay as they were
// initialised.
#pragma once

#include <span>
#include <vector>

#include "dfrost/backbone.h"
#include "kernels/buffer.h"
#include "train/adapter.h"
#include "train/client_state.h"

namespace dfrost {

// What choosing leaves for the step and its backward pass; reused from step to step.
struct PoolPass {
  Matrix<float> query;       // [images, d], projected
  Matrix<float> similarity;  // [images, pool]
  std::vector<float> inverse_query_norm, inverse_key_norm;
  std::vector<std::size_t> chosen;  // [images, count], or [count] for a whole batch; increasing in each row
  std::vector<bool> used;           // prompts that any image chose since somebody cleared it
  Matrix<float> prompts;            // the chosen ones, as a Batch takes them
  Matrix<float> d_query;
};

// features [images, d]: the frozen CLS features, without prompts.
void choose_prompts(const PromptOptions& options, const ClientState& state, MatrixView<const float> features,
                    PoolPass& pass);

// similarity_weight · mean over images of the summed cosines to the chosen keys.
double similarity_term(const PromptOptions& options, const PoolPass& pass);

// Adds to `gradient`, in the order of the images: d_prompts, shaped as pass.prompts, to the prompts they were
// taken from, and the gradient of the similarity term to projection and keys.
void choose_prompts_backward(const PromptOptions& options, const ClientState& state,
                             MatrixView<const float> features, MatrixView<const float> d_prompts,
                             PoolPass& pass, std::span<float> gradient);

}  // namespace dfrost
