// Where local training and scoring take their samples from: labels, domains, and images as the backbone's
// patch embeddings. Images are asked for one at a time, so that what an implementation computes for a sample
// depends on that sample alone: keeping it for later epochs, or not, then never changes a bit of any result.
#pragma once

#include <cstddef>
#include <span>

#include "dfrost/backbone.h"
#include "train/loss.h"

namespace dfrost {

// Implementations may be read by several threads at once.
class SampleSource {
 public:
  virtual ~SampleSource() = default;
  virtual std::size_t size() const = 0;
  virtual std::size_t label(std::size_t sample) const = 0;   // over the classes of all domains
  virtual std::size_t domain(std::size_t sample) const = 0;  // an index into domains()
  virtual std::span<const ClassRange> domains() const = 0;
  // [patches·width], as Backbone::embed() gives them.
  virtual void write_patches(std::size_t sample, std::span<float> patches) const = 0;
  // [width]: frozen_query() of the sample; asked for only where prompts are chosen from a pool. It never
  // changes, and costs a forward pass: worth keeping.
  virtual void write_query(std::size_t sample, std::span<float> query) const = 0;
  // Features of the sample under exactly these prompts, [special tokens·width], where the source keeps any
  // and has been given them: it may where prompts never move. Without a pool.
  virtual std::span<const float> kept_features(std::size_t, std::span<const float>) const { return {}; }
  virtual void keep_features(std::size_t, std::span<const float>, std::span<const float>) const {}
};

// The CLS feature of one image without prompts. patches [patches·width].
void frozen_query(const Backbone& backbone, std::span<const float> patches, std::span<float> query);

}  // namespace dfrost
