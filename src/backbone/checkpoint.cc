#include "backbone/checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "backbone/architecture.h"
#include "backbone/checkpoint_config.h"
#include "backbone/checkpoint_layout.h"
#include "backbone/pixels.h"
#include "backbone/tensor_store.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostPatches = 1u << 16;  // an image of 4096 pixels in patches of 16

void set_image_size(std::size_t image_size, Geometry& geometry) {
  const std::size_t patch = geometry.patch_size;
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
  geometry.image_size = image_size;
}

class StoredCheckpoint final : public Checkpoint {
 public:
  StoredCheckpoint(std::unique_ptr<TensorStore> store, const CheckpointConfig& config,
                   const CheckpointOptions& options)
      : store_(std::move(store)),
        layout_(infer_layout(store_->tensors(), config, options.heads.value_or(0))) {
    const Architecture& architecture = architecture_of(layout_.geometry);
    // The layout keeps the size that the positions were learnt for: they are interpolated from it.
    Geometry geometry = layout_.geometry;
    if (options.image_size) set_image_size(*options.image_size, geometry);
    weights_ = architecture.open_weights(*store_, layout_, geometry);
    choose_preprocessing(architecture, config, options);
    if (config.class_names.size() == geometry.classes) class_names_ = config.class_names;
  }

  const Geometry& geometry() const override { return weights_->geometry(); }
  bool runs(Precision precision) const override { return weights_->runs(precision); }
  std::unique_ptr<Backbone> make_backbone(const Packing& packing) const override {
    return weights_->make_backbone(packing);
  }
  void add_to(ContentHash& hash) const override { weights_->add_to(hash); }

  const WeightSource& weights() const override { return *weights_; }
  Family family() const override { return layout_.naming.family; }
  const OwnHeads& own_heads() const override { return layout_.own_heads; }
  const Preprocessing& preprocessing() const override { return preprocessing_; }
  const std::string& preprocessing_origin() const override { return preprocessing_origin_; }
  bool preprocessing_is_guess() const override { return preprocessing_is_guess_; }
  const std::vector<std::string>& class_names() const override { return class_names_; }
  std::size_t parameters() const override { return layout_.parameters; }
  std::size_t file_bytes() const override { return store_->file_bytes(); }

  std::string dtype() const override {
    std::vector<std::string_view> names;
    for (const TensorType type : layout_.types) names.push_back(to_string(type));
    return fmt::format("{}", fmt::join(names, ", "));
  }

 private:
  void choose_preprocessing(const Architecture& architecture, const CheckpointConfig& config,
                            const CheckpointOptions& options) {
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
                    fmt::format("ask for one of them: --image-size {} (backbone.image_size of an experiment)",
                                own_size));
      }
    } else {
      const auto by_default = architecture.default_preprocessing(layout_, store_->path());
      preprocessing_ = preprocessing_of_style(by_default.style, own_size);
      preprocessing_origin_ = by_default.style + (by_default.guess ? ", a guess" : ", by default");
      preprocessing_is_guess_ = by_default.guess;
    }
    if (preprocessing_.crop != geometry().image_size)
      preprocessing_ = resized(preprocessing_, geometry().image_size);
  }

  std::unique_ptr<TensorStore> store_;
  CheckpointLayout layout_;
  std::unique_ptr<WeightSource> weights_;  // the layout's, for the image size that was asked for
  Preprocessing preprocessing_;
  std::string preprocessing_origin_;
  bool preprocessing_is_guess_ = false;
  std::vector<std::string> class_names_;
};

}  // namespace

std::unique_ptr<Checkpoint> open_checkpoint(const fs::path& path, const CheckpointOptions& options) {
  if (is_pixels(path) && !fs::exists(path)) return open_pixels(options);
  try {
    auto store = open_tensor_store(path);
    const auto config = read_checkpoint_config(store->path().parent_path());
    return std::make_unique<StoredCheckpoint>(std::move(store), config, options);
  } catch (Error& error) {
    error.at(path.string());
    throw;
  }
}

std::optional<Doubt> doubt_about_pictures(const Checkpoint& checkpoint) {
  if (!checkpoint.preprocessing_is_guess()) return std::nullopt;
  return Doubt{
      "how pictures are prepared is a guess, timm's own way (augreg): nothing beside the checkpoint "
      "says it, and DeiT, DINO and MAE, which have the same names, want another mean and deviation",
      "say it by --preprocessing augreg or --preprocessing deit (backbone.preprocessing of an experiment)"};
}

std::optional<Doubt> doubt_about_heads(const Checkpoint& checkpoint, bool said) {
  const Geometry& g = checkpoint.geometry();
  const OwnHeads& own = checkpoint.own_heads();
  if (own.origin == HeadsOrigin::guess) {
    if (said) return std::nullopt;
    return Doubt{fmt::format("{} attention heads are a guess: no config.json beside the checkpoint says how "
                             "many, and no known model has width {} and an MLP of {}. If it is wrong, all "
                             "features are",
                             g.heads, g.width, g.mlp_width),
                 how_to_say_heads(g.heads)};
  }
  if (own.count == 0 || own.count == g.heads) return std::nullopt;
  return Doubt{
      own.origin == HeadsOrigin::config
          ? fmt::format("taken with {} attention heads, but its config.json says {}", g.heads, own.count)
          : fmt::format("taken with {} attention heads, but models of its shape have {}", g.heads, own.count),
      "wrong heads give wrong features: 'dfrost backbone inspect' shows what is taken without asking"};
}

}  // namespace dfrost
