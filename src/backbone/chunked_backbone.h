// A Backbone over an architecture's encoder: cuts a batch into chunks of images and shares them among
// threads. An image's features and gradient do not depend on the others of its chunk, and gradients are
// summed in the order of the images, so no result depends on the threads.
#pragma once

#include <algorithm>
#include <concepts>
#include <utility>
#include <vector>

#include "backbone/spare_scratch.h"
#include "backbone/weights.h"
#include "base/thread_pool.h"
#include "dfrost/backbone.h"
#include "dfrost/error.h"
#include "kernels/buffer.h"
#include "kernels/onednn_section.h"
#include "kernels/small_product.h"
#include "kernels/vector_ops.h"

namespace dfrost {

// Eight images of ViT-B/32 are 480 rows: enough for a matrix product to run at full speed, few enough that a
// batch of 16 keeps two cores busy.
inline constexpr std::size_t kImagesPerChunk = 8;

// In bf16 the products are so fast that fetching the weights from memory, once per chunk, is what takes the
// time of a large model: its chunks have more rows. Not as many as would let other threads wait.
inline constexpr std::size_t kRowsPerBf16Chunk = 960;
inline std::size_t images_per_bf16_chunk(std::size_t images, std::size_t tokens, std::size_t threads) {
  const std::size_t needed = (images * tokens + kRowsPerBf16Chunk - 1) / kRowsPerBf16Chunk;
  const std::size_t chunks = std::max<std::size_t>(1, (needed + threads - 1) / threads * threads);
  return std::max<std::size_t>(1, (images + chunks - 1) / chunks);
}

// Runs a chunk on the calling thread; shapes as Backbone's, for the chunk's images.
template <typename E>
concept ChunkEncoder = requires(const E& encoder, const Batch& chunk, MatrixView<const float> in,
                                MatrixView<float> out, bool keep, typename E::Tape& tape) {
  { encoder.geometry() } -> std::same_as<const Geometry&>;
  { encoder.training() } -> std::same_as<bool>;
  { encoder.weight_bytes() } -> std::same_as<std::size_t>;
  encoder.embed(in, out);
  // The tape is also its work space; only with `keep` does it hold what backward needs.
  encoder.forward(chunk, out, keep, tape);
  // The gradient has a row for each prompt of each image, even where the images share their prompts.
  encoder.backward(in, out, tape);
};

template <ChunkEncoder Encoder>
class ChunkedBackbone final : public Backbone {
 public:
  // `heads`: the checkpoint's own classifiers, each of the special token of its index; may be fewer.
  ChunkedBackbone(Encoder encoder, std::vector<LinearWeights> heads, Precision precision)
      : encoder_(std::move(encoder)), heads_(std::move(heads)), precision_(precision) {}

  const Geometry& geometry() const override { return encoder_.geometry(); }
  Precision precision() const override { return precision_; }
  std::size_t weight_bytes() const override {
    std::size_t bytes = encoder_.weight_bytes();
    for (const auto& head : heads_) bytes += (head.weight.size() + head.bias.size()) * sizeof(float);
    return bytes;
  }
  std::unique_ptr<Tape> make_tape() const override { return std::make_unique<BatchTape>(); }

  void embed(MatrixView<const float> pixels, MatrixView<float> patches, ThreadPool* threads) const override {
    check(pixels.cols() == geometry().patch_values() && patches.cols() == geometry().width &&
              pixels.rows() == patches.rows() && pixels.rows() % geometry().patches() == 0,
          "embed: pixels must be [images·patches, 3·patch²] and patches [images·patches, width]");
    const std::size_t images = pixels.rows() / geometry().patches();
    for_each_chunk(images, images_per_chunk(images, geometry().patches(), threads), threads,
                   [&](const Chunk& chunk) {
                     const std::size_t first = chunk.first * geometry().patches(),
                                       count = chunk.images * geometry().patches();
                     encoder_.embed(pixels.rows_from(first, count), patches.rows_from(first, count));
                   });
  }

  void forward(const Batch& batch, MatrixView<float> features, Tape* tape,
               ThreadPool* threads) const override {
    check_batch(batch, features);
    auto* kept = static_cast<BatchTape*>(tape);
    const std::size_t each =
        images_per_chunk(batch.images, geometry().tokens(batch.prompts_per_image), threads);
    if (kept != nullptr) {
      kept->images = batch.images;
      kept->prompts = batch.prompts_per_image;
      kept->shared = batch.shares_prompts();
      kept->images_per_chunk = each;
      kept->chunks.resize(chunks_of(batch.images, each));
    }
    for_each_chunk(batch.images, each, threads, [&](const Chunk& chunk) {
      const auto part = part_of(batch, chunk);
      const std::size_t specials = geometry().special_tokens;
      const auto rows = features.rows_from(chunk.first * specials, chunk.images * specials);
      if (kept != nullptr) return encoder_.forward(part, rows, true, kept->chunks[chunk.index]);
      const auto scratch = scratch_.borrow();
      encoder_.forward(part, rows, false, *scratch);
    });
  }

  void backward(MatrixView<const float> d_features, MatrixView<float> d_prompts, Tape& tape,
                ThreadPool* threads) const override {
    auto& kept = static_cast<BatchTape&>(tape);
    const std::size_t specials = geometry().special_tokens, n = kept.prompts;
    check(encoder_.training(), "backward: this backbone was loaded for inference alone");
    check(d_features.rows() == kept.images * specials && d_features.cols() == geometry().width,
          "backward: d_features must have the shape of the features");
    check(d_prompts.rows() == (kept.shared ? n : kept.images * n) && d_prompts.cols() == geometry().width,
          "backward: d_prompts must have the shape of the prompts");
    if (n == 0) return;
    Matrix<float> own;  // one gradient per image, where they are to be summed
    if (kept.shared) own.resize(kept.images * n, geometry().width);
    const MatrixView<float> per_image = kept.shared ? own.view() : d_prompts;
    for_each_chunk(kept.images, kept.images_per_chunk, threads, [&](const Chunk& chunk) {
      encoder_.backward(d_features.rows_from(chunk.first * specials, chunk.images * specials),
                        per_image.rows_from(chunk.first * n, chunk.images * n), kept.chunks[chunk.index]);
    });
    if (kept.shared) sum_over_images(per_image, d_prompts);
  }

  void classify(MatrixView<const float> features, MatrixView<float> logits) const override {
    check(!heads_.empty(), "classify: the checkpoint has no classifier");
    const std::size_t specials = geometry().special_tokens;
    check(logits.cols() == geometry().classes && features.rows() == logits.rows() * specials,
          "classify: logits must be [images, classes]");
    const float share = 1.0f / static_cast<float>(heads_.size());
    for (std::size_t image = 0; image < logits.rows(); ++image) {
      std::ranges::fill(logits.row(image), 0.0f);
      for (std::size_t h = 0; h < heads_.size(); ++h) {
        const auto feature = features.row(image * specials + h);
        const MatrixView<const float> weight(heads_[h].weight.data(), heads_[h].outputs, heads_[h].inputs);
        for (std::size_t c = 0; c < logits.cols(); ++c) {
          logits(image, c) += share * (dot(feature, weight.row(c)) + heads_[h].bias[c]);
        }
      }
    }
  }

  void classify_backward(MatrixView<const float> d_logits, MatrixView<float> d_features) const override {
    check(!heads_.empty(), "classify_backward: the checkpoint has no classifier");
    const std::size_t specials = geometry().special_tokens, width = geometry().width;
    check(d_logits.cols() == geometry().classes && d_features.cols() == width &&
              d_features.rows() == d_logits.rows() * specials,
          "classify_backward: d_logits must be [images, classes] and d_features [images·special tokens, "
          "width]");
    const float share = 1.0f / static_cast<float>(heads_.size());
    // A checkpoint may have fewer heads than special tokens: no gradient comes from a token that none reads.
    for (std::size_t row = 0; row < d_features.rows(); ++row) std::ranges::fill(d_features.row(row), 0.0f);
    for (std::size_t h = 0; h < heads_.size(); ++h) {
      // Every specials-th row: the token that head h reads.
      const MatrixView<float> own(d_features.data() + h * d_features.stride(), d_logits.rows(), width,
                                  specials * d_features.stride());
      small_product(Transpose::no, Transpose::no, d_logits,
                    {heads_[h].weight.data(), heads_[h].outputs, heads_[h].inputs}, own, {.scale = share});
    }
  }

 private:
  struct BatchTape final : Tape {
    std::size_t images = 0;
    std::size_t images_per_chunk = 0;
    std::size_t prompts = 0;
    bool shared = true;
    std::vector<typename Encoder::Tape> chunks;
  };

  struct Chunk {
    std::size_t index, first, images;
  };

  static std::size_t chunks_of(std::size_t images, std::size_t each) { return (images + each - 1) / each; }

  // An image's results are the same in any chunk.
  std::size_t images_per_chunk(std::size_t images, std::size_t rows_each, const ThreadPool* threads) const {
    if (precision_ != Precision::bf16) return kImagesPerChunk;
    return images_per_bf16_chunk(images, rows_each, threads != nullptr ? threads->size() : 1);
  }

  template <typename Body>
  static void for_each_chunk(std::size_t images, std::size_t each, ThreadPool* threads, const Body& body) {
    const auto run = [&](std::size_t index, std::size_t) {
      const OneDnnSection section;  // for all products of the chunk, instead of for each
      const std::size_t first = index * each;
      body(Chunk{index, first, std::min(each, images - first)});
    };
    if (threads != nullptr) return threads->parallel_for(chunks_of(images, each), run);
    for (std::size_t index = 0; index < chunks_of(images, each); ++index) run(index, 0);
  }

  Batch part_of(const Batch& batch, const Chunk& chunk) const {
    const std::size_t patches = geometry().patches(), n = batch.prompts_per_image;
    Batch part = batch;
    part.images = chunk.images;
    part.patches = batch.patches.rows_from(chunk.first * patches, chunk.images * patches);
    if (!batch.shares_prompts()) part.prompts = batch.prompts.rows_from(chunk.first * n, chunk.images * n);
    return part;
  }

  static void sum_over_images(MatrixView<const float> per_image, MatrixView<float> sum) {
    for (std::size_t r = 0; r < sum.rows(); ++r) std::ranges::fill(sum.row(r), 0.0f);
    for (std::size_t r = 0; r < per_image.rows(); ++r)
      add_scaled(1.0f, per_image.row(r), sum.row(r % sum.rows()));
  }

  static void check(bool fits, const char* message) {
    if (!fits) throw Error(ErrorCode::failed_precondition, message);
  }
  void check_batch(const Batch& batch, MatrixView<float> features) const {
    const std::size_t n = batch.prompts_per_image, width = geometry().width;
    check(batch.patches.rows() == batch.images * geometry().patches() && batch.patches.cols() == width,
          "forward: patches must be [images·patches, width]");
    check(batch.prompts.rows() == n || batch.prompts.rows() == batch.images * n,
          "forward: prompts must be [n, width] or [images·n, width]");
    check(n == 0 || batch.prompts.cols() == width,
          "forward: a prompt must be as long as a token of the backbone");
    check(features.rows() == batch.images * geometry().special_tokens && features.cols() == width,
          "forward: features must be [images·special tokens, width]");
  }

  Encoder encoder_;
  std::vector<LinearWeights> heads_;
  Precision precision_;
  mutable SpareScratch<typename Encoder::Tape> scratch_;  // of forward passes that keep nothing
};

}  // namespace dfrost
