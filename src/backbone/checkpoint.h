// A pretrained vision transformer on disk, whoever saved it: safetensors (whole or sharded) or a PyTorch
// state dict, named as Hugging Face, timm or torchvision name it. Opening checks every tensor's name, shape
// and type and reads none of them; a tensor that is missing, mis-shaped, or has no place in its architecture
// is an Error naming it. Reading is thread-safe.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backbone/checkpoint_layout.h"
#include "backbone/naming.h"
#include "backbone/weights.h"
#include "data/preprocess.h"

namespace dfrost {

struct CheckpointOptions {
  // Pixels; a multiple of the patch. The position embeddings are interpolated when it is not the checkpoint's
  // own.
  std::optional<std::size_t> image_size = {};
  // Attention heads, where no config.json says them and what is taken without one is wrong.
  std::optional<std::size_t> heads = {};
  // How pictures are prepared, by name (see backbone/checkpoint_config.h), whatever the files say.
  std::optional<std::string> preprocessing = {};
};

// What may be wrong, and what to do about it.
struct Doubt {
  std::string what;
  std::string hint;
};

class Checkpoint : public WeightSource {
 public:
  // In the form of its architecture: VitWeights, where geometry().architecture is "vit".
  virtual const WeightSource& weights() const = 0;
  virtual Family family() const = 0;
  virtual const OwnHeads& own_heads() const = 0;  // geometry().heads are those, or those asked for
  virtual const Preprocessing& preprocessing() const = 0;
  virtual const std::string& preprocessing_origin() const = 0;  // the file or the rule that it comes from
  virtual bool preprocessing_is_guess() const = 0;
  virtual const std::vector<std::string>& class_names() const = 0;  // one per class, or none
  virtual std::string dtype() const = 0;                            // "F32", or "BF16, F32" when they differ
  virtual std::size_t parameters() const = 0;
  virtual std::size_t file_bytes() const = 0;
};

// `path`: a .safetensors file, a PyTorch archive, an index of shards, or a folder as Hugging Face lays it
// out. config.json and preprocessor_config.json beside it are honoured.
std::unique_ptr<Checkpoint> open_checkpoint(const std::filesystem::path& path,
                                            const CheckpointOptions& options = {});

// Whether the attention heads that it runs with are a guess, or others than its own files say. Wrong heads
// give wrong features, and nothing else shows it: whoever opens a checkpoint must be told. `said`: the user
// named them.
std::optional<Doubt> doubt_about_heads(const Checkpoint& checkpoint, bool said);
// Whether nothing says how its pictures are to be prepared.
std::optional<Doubt> doubt_about_pictures(const Checkpoint& checkpoint);

}  // namespace dfrost
