#include "backbone/checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>

#include "backbone/checkpoint_config.h"
#include "backbone/checkpoint_layout.h"
#include "backbone/position_embeddings.h"
#include "backbone/tensor_store.h"
#include "base/text.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostPatches = 1u << 16;  // an image of 4096 pixels in patches of 16

// The family's usual preparation where no file says. timm's names are shared by checkpoints trained in two
// ways: a distillation token, or "deit" in the name of the file or of its folder, tells DeiT from the rest,
// which is taken for timm's own augreg training.
std::string default_style(const CheckpointLayout& layout, const fs::path& path) {
  const auto says_deit = [](const std::string& name) {
    return lower_case(name).find("deit") != std::string::npos;
  };
  const bool deit = layout.geometry.special_tokens == 2 || layout.naming.patch.starts_with("deit.") ||
                    says_deit(path.filename().string()) || says_deit(path.parent_path().filename().string());
  switch (layout.naming.family) {
    case Family::torchvision: return "torchvision";
    case Family::hugging_face: return deit ? "deit" : "google";
    case Family::timm: return deit ? "deit" : "augreg";
  }
  return "torchvision";
}

class StoredCheckpoint : public Checkpoint {
 public:
  StoredCheckpoint(std::unique_ptr<TensorStore> store, const CheckpointConfig& config,
                   const CheckpointOptions& options)
      : store_(std::move(store)),
        layout_(infer_layout(store_->tensors(), config, options.heads.value_or(0))),
        geometry_(layout_.geometry) {
    if (options.image_size) set_image_size(*options.image_size);
    choose_preprocessing(config, options);
    if (config.class_names.size() == geometry_.classes) class_names_ = config.class_names;
  }

  const Geometry& geometry() const override { return geometry_; }
  Family family() const override { return layout_.naming.family; }
  const Preprocessing& preprocessing() const override { return preprocessing_; }
  const std::string& preprocessing_origin() const override { return preprocessing_origin_; }
  const std::vector<std::string>& class_names() const override { return class_names_; }
  std::size_t parameters() const override { return layout_.parameters; }
  std::size_t file_bytes() const override { return store_->file_bytes(); }

  std::string dtype() const override {
    std::vector<std::string_view> names;
    for (const TensorType type : layout_.types) names.push_back(to_string(type));
    return fmt::format("{}", fmt::join(names, ", "));
  }

  StemWeights read_stem() const override {
    const auto& naming = layout_.naming;
    const std::size_t width = geometry_.width;
    StemWeights stem;
    stem.patch = read_linear({naming.patch}, width, geometry_.patch_values(), true);
    auto tokens = read(naming.class_token, width);
    if (geometry_.special_tokens == 2) {
      const auto distillation = read(naming.distillation_token, width);
      tokens.insert(tokens.end(), distillation.begin(), distillation.end());
    }
    const std::size_t grid = layout_.geometry.image_size / geometry_.patch_size;
    const auto positions = read(naming.positions, tokens.size() + grid * grid * width);
    std::transform(tokens.begin(), tokens.end(), positions.begin(), tokens.begin(), std::plus<>());
    const auto of_patches = std::span(positions).subspan(tokens.size());
    const std::size_t new_grid = geometry_.image_size / geometry_.patch_size;
    stem.patch_positions = new_grid == grid ? std::vector<float>(of_patches.begin(), of_patches.end())
                                            : interpolate_positions(of_patches, grid, new_grid, width);
    stem.special_tokens = std::move(tokens);
    return stem;
  }

  BlockWeights read_block(std::size_t index) const override {
    assert(index < geometry_.depth);
    const auto& naming = layout_.naming;
    const std::size_t width = geometry_.width;
    const auto stem = [&](const std::string& name) { return naming.in_block(index, name); };
    std::vector<std::string> qkv;
    for (const auto& name : naming.qkv) qkv.push_back(stem(name));
    return {read_norm(stem(naming.norm1)),
            read_linear(qkv, 3 * width, width, layout_.has_qkv_bias),
            read_linear({stem(naming.projection)}, width, width, true),
            read_norm(stem(naming.norm2)),
            read_linear({stem(naming.fc1)}, geometry_.mlp_width, width, true),
            read_linear({stem(naming.fc2)}, width, geometry_.mlp_width, true)};
  }

  NormWeights read_final_norm() const override { return read_norm(layout_.naming.final_norm); }

  std::vector<LinearWeights> read_heads() const override {
    std::vector<LinearWeights> heads;
    for (const auto& stem : layout_.heads)
      heads.push_back(read_linear({stem}, geometry_.classes, geometry_.width, true));
    return heads;
  }

 private:
  void set_image_size(std::size_t image_size) {
    const std::size_t patch = geometry_.patch_size;
    if (image_size == 0 || image_size % patch != 0) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("image size {} is not a multiple of the patch size {}", image_size, patch),
                  fmt::format("the nearest that is: {}",
                              std::max<std::size_t>(1, (image_size + patch / 2) / patch) * patch));
    }
    const std::size_t grid = image_size / patch;
    if (grid > kMostPatches / grid) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("image size {} gives more than {} patches", image_size, kMostPatches));
    }
    geometry_.image_size = image_size;
  }

  void choose_preprocessing(const CheckpointConfig& config, const CheckpointOptions& options) {
    const std::size_t own_size = layout_.geometry.image_size;
    if (options.preprocessing) {
      preprocessing_ = preprocessing_of_style(*options.preprocessing, own_size);
      preprocessing_origin_ = *options.preprocessing + ", as asked";
    } else if (config.preprocessing) {
      preprocessing_ = *config.preprocessing;
      preprocessing_origin_ = config.preprocessing_file;
      if (preprocessing_.crop != own_size && !options.image_size) {
        throw Error(ErrorCode::data_loss,
                    fmt::format("{} prepares pictures of {} pixels, but the position embeddings are for {}",
                                preprocessing_origin_, preprocessing_.crop, own_size),
                    fmt::format("ask for one of them: --image-size {}", own_size));
      }
    } else {
      const std::string style = default_style(layout_, store_->path());
      preprocessing_ = preprocessing_of_style(style, own_size);
      preprocessing_origin_ = style + ", by default";
    }
    if (preprocessing_.crop != geometry_.image_size)
      preprocessing_ = resized(preprocessing_, geometry_.image_size);
  }

  std::vector<float> read(const std::string& name, std::size_t count) const {
    std::vector<float> values(count);
    store_->read(name, values);
    return values;
  }

  NormWeights read_norm(const std::string& stem) const {
    return {read(stem + "weight", geometry_.width), read(stem + "bias", geometry_.width)};
  }

  // One matrix, or several of equal size below each other.
  LinearWeights read_linear(const std::vector<std::string>& stems, std::size_t outputs, std::size_t inputs,
                            bool has_bias) const {
    LinearWeights linear{outputs, inputs, std::vector<float>(outputs * inputs), std::vector<float>(outputs)};
    const std::size_t rows = outputs / stems.size();
    for (std::size_t i = 0; i < stems.size(); ++i) {
      store_->read(stems[i] + "weight", std::span(linear.weight).subspan(i * rows * inputs, rows * inputs));
      if (has_bias) store_->read(stems[i] + "bias", std::span(linear.bias).subspan(i * rows, rows));
    }
    return linear;
  }

  std::unique_ptr<TensorStore> store_;
  CheckpointLayout layout_;
  Geometry geometry_;  // the layout's, for the image size that was asked for
  Preprocessing preprocessing_;
  std::string preprocessing_origin_;
  std::vector<std::string> class_names_;
};

}  // namespace

std::unique_ptr<Checkpoint> open_checkpoint(const fs::path& path, const CheckpointOptions& options) {
  try {
    auto store = open_tensor_store(path);
    const auto config = read_checkpoint_config(store->path().parent_path());
    return std::make_unique<StoredCheckpoint>(std::move(store), config, options);
  } catch (Error& error) {
    error.at(path.string());
    throw;
  }
}

}  // namespace dfrost
