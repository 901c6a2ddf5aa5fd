// One mini-batch through prompts, backbone, head and loss, and the gradient back to everything a client
// trains.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "dfrost/backbone.h"
#include "kernels/buffer.h"
#include "train/client_state.h"
#include "train/head.h"
#include "train/loss.h"
#include "train/optimizer.h"
#include "train/prompt_pool.h"
#include "train/sample_source.h"

namespace dfrost {

// All that one worker needs to train or score clients one after the other; no result depends on what it was
// used for before. The backbone must outlive it.
struct Workspace {
  explicit Workspace(const Backbone& frozen) : backbone(frozen) {}

  const Backbone& backbone;
  std::unique_ptr<Backbone::Tape> tape;  // made by the first training step
  // The batch.
  Matrix<float> patches;  // [images·patches, width]
  Matrix<float> queries;  // [images, width], where prompts are chosen from a pool
  Matrix<float> dropout;  // [images, hidden], where training drops values
  std::vector<Target> targets;
  // The pass.
  Matrix<float> features, d_features, d_prompts;
  Matrix<float> rest_features;  // of all of a client's samples, while its prompts rest
  PoolPass pool;
  HeadPass head;
  std::vector<Outcome> outcomes;  // one per image
  Matrix<float> own_prompts;      // [images·prompts, d]: the same for each, to tell their gradients apart
  std::vector<double> gradient_norms;  // of each image, before they are clipped
  // The update.
  std::vector<float> gradient;  // laid out as the client's values
  std::vector<float> before_ascent;
  OptimizerState optimizer;  // of a round that starts fresh
};

void load_batch(const AdapterOptions& adapter, const SampleSource& source,
                std::span<const std::size_t> samples, Workspace& workspace);

// Labels and domains alone.
void load_targets(const SampleSource& source, std::span<const std::size_t> samples, Workspace& workspace);

// The data order: one permutation of the samples per epoch, drawn one after the other.
RandomStream data_order(const RandomKey& key);

// What training drops of the loaded batch, where the head drops anything. From the key and the step alone.
void draw_batch_dropout(const HeadOptions& head, const RandomKey& key, std::size_t step,
                        Workspace& workspace);

// The loss of the loaded batch: mean cross-entropy plus the pool's similarity term. Leaves the outcomes of
// its images in the workspace. Nothing is dropped out and no tape is kept.
double score_batch(const AdapterOptions& adapter, const ClientState& state, ClassMask mask,
                   Workspace& workspace, ThreadPool* threads);

// The features of the loaded batch, in workspace.features.
void compute_features(const AdapterOptions& adapter, const ClientState& state, Workspace& workspace,
                      ThreadPool* threads = nullptr);

// The same, batch and all, of what the source keeps or else of a pass, which it is then given to keep.
void load_features(const AdapterOptions& adapter, const ClientState& state, const SampleSource& source,
                   std::span<const std::size_t> samples, Workspace& workspace, ThreadPool* threads = nullptr);

// As score_batch(), from the features that stand in the workspace, and without the similarity term.
double score_head(const AdapterOptions& adapter, const ClientState& state, ClassMask mask,
                  Workspace& workspace);

// As score_batch() with dropout, followed by its gradient, in workspace.gradient.
double differentiate_batch(const AdapterOptions& adapter, const ClientState& state, ClassMask mask,
                           Workspace& workspace);

// The same as if prompts, and what chooses among them, had the gradient zero: from the features that stand in
// the workspace, without the backbone, and without the similarity term, which does not move then.
double differentiate_head(const AdapterOptions& adapter, const ClientState& state, ClassMask mask,
                          Workspace& workspace);

// The sum of the images' own gradients, each shortened to the norm `clip` over prompts and head together, in
// workspace.gradient, and the loss as above. Nothing of an image whose gradient is not finite. Without a
// pool.
double differentiate_clipped(const AdapterOptions& adapter, const ClientState& state, ClassMask mask,
                             double clip, Workspace& workspace);

// The same of the head alone, from the features that stand in the workspace, while prompts rest.
double differentiate_head_clipped(const AdapterOptions& adapter, const ClientState& state, ClassMask mask,
                                  double clip, Workspace& workspace);

}  // namespace dfrost
