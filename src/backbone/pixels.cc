#include "backbone/pixels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "backbone/chunked_backbone.h"
#include "base/content_hash.h"

namespace dfrost {
namespace {

constexpr std::size_t kUsualSize = 28;  // of MNIST's pictures
constexpr std::size_t kLargestSize = 1024;

Geometry pixels_geometry(std::size_t size) {
  return {.width = size * size,
          .depth = 0,
          .heads = 1,
          .mlp_width = 0,
          .patch_size = size,  // the whole picture is one patch
          .image_size = size,
          .architecture = kPixels};
}

class PixelsEncoder {
 public:
  struct Tape {};

  explicit PixelsEncoder(const Geometry& geometry) : geometry_(geometry) {}
  const Geometry& geometry() const { return geometry_; }
  bool training() const { return true; }
  std::size_t weight_bytes() const { return 0; }

  void embed(MatrixView<const float> pixels, MatrixView<float> patches) const {
    const std::size_t plane = geometry_.width;
    for (std::size_t r = 0; r < pixels.rows(); ++r) {
      const auto colours = pixels.row(r);
      const auto grey = patches.row(r);
      // In double: three equal colours are that colour again.
      for (std::size_t i = 0; i < plane; ++i)
        grey[i] =
            static_cast<float>((static_cast<double>(colours[i]) + static_cast<double>(colours[plane + i]) +
                                static_cast<double>(colours[2 * plane + i])) /
                               3.0);
    }
  }
  void forward(const Batch& chunk, MatrixView<float> features, bool, Tape&) const {
    for (std::size_t r = 0; r < features.rows(); ++r)
      std::ranges::copy(chunk.patches.row(r), features.row(r).begin());
  }
  void backward(MatrixView<const float>, MatrixView<float> d_prompts, Tape&) const {
    for (std::size_t r = 0; r < d_prompts.rows(); ++r) std::ranges::fill(d_prompts.row(r), 0.0f);
  }

 private:
  Geometry geometry_;
};

class Pixels final : public Checkpoint {
 public:
  explicit Pixels(const CheckpointOptions& options)
      : geometry_(pixels_geometry(options.image_size.value_or(kUsualSize))) {
    const std::size_t size = geometry_.image_size;
    if (options.preprocessing) {
      preprocessing_ = preprocessing_of_style(*options.preprocessing, size);
      origin_ = *options.preprocessing + ", as asked";
      return;
    }
    preprocessing_ = {.resize = size, .stretch = true, .crop = size, .mean = {0, 0, 0}, .std = {1, 1, 1}};
  }

  const Geometry& geometry() const override { return geometry_; }
  bool runs(Precision precision) const override { return precision == Precision::fp32; }
  std::unique_ptr<Backbone> make_backbone(const Packing&) const override {
    return std::make_unique<ChunkedBackbone<PixelsEncoder>>(PixelsEncoder(geometry_),
                                                            std::vector<LinearWeights>(), Precision::fp32);
  }
  void add_to(ContentHash& hash) const override {
    hash.add(std::span(kPixels));
    const std::array size = {geometry_.image_size};
    hash.add(std::span(size));
  }

  const WeightSource& weights() const override { return *this; }
  Family family() const override { return Family::built_in; }
  const OwnHeads& own_heads() const override { return own_heads_; }
  const Preprocessing& preprocessing() const override { return preprocessing_; }
  const std::string& preprocessing_origin() const override { return origin_; }
  bool preprocessing_is_guess() const override { return false; }
  const std::vector<std::string>& class_names() const override { return class_names_; }
  std::string dtype() const override { return "none"; }
  std::size_t parameters() const override { return 0; }
  std::size_t file_bytes() const override { return 0; }

 private:
  Geometry geometry_;
  OwnHeads own_heads_ = {};
  Preprocessing preprocessing_;
  std::string origin_ = "from 0 to 1, by default";
  std::vector<std::string> class_names_;
};

}  // namespace

bool is_pixels(const std::filesystem::path& path) { return path == kPixels; }

std::unique_ptr<Checkpoint> open_pixels(const CheckpointOptions& options) {
  const std::size_t size = options.image_size.value_or(kUsualSize);
  if (size == 0 || size > kLargestSize)
    throw Error(ErrorCode::invalid_argument, fmt::format("pictures of {} pixels are no model's input", size),
                fmt::format("from 1 to {} pixels a side", kLargestSize))
        .at(std::string(kPixels));
  return std::make_unique<Pixels>(options);
}

bool never_pixels(const TensorDescriptions&) { return false; }

StepFlops pixels_flops(const Geometry&, std::size_t) { return {}; }

std::size_t pixels_weight_bytes(const Geometry&, Precision, bool) { return 0; }

}  // namespace dfrost
