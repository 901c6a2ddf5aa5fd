// A frozen vision transformer: (patches, prompts) → features, and from the gradient of the features back to
// the gradient of the prompts. Nothing of the model is ever trained, so no weight gradient exists here. A
// Backbone is immutable and shared by every client; what one step remembers is in a Tape, one per step under
// way. Results do not depend on the number of threads, bit for bit.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dfrost/geometry.h"
#include "dfrost/matrix_view.h"
#include "dfrost/threads.h"

namespace dfrost {

enum class Precision {
  automatic,  // the fastest that this machine really runs
  fp32,       // oneDNN; every machine
  bf16,  // AMX tiles or AVX512_BF16; weights and activations in bf16, sums, norms, softmax and residuals in
         // fp32
};
std::string_view to_string(Precision precision);
Precision parse_precision(std::string_view name);  // "auto", "fp32", "bf16"
// fp32 or bf16. Throws (invalid_argument) where bf16 is asked for and the machine cannot.
Precision resolve_precision(Precision wanted);

struct BackboneOptions {
  Precision precision = Precision::automatic;
  // Without it only forward() works and the weights take half the memory.
  bool training = true;
  // Another input size than the checkpoint's: position embeddings are interpolated. 0: the checkpoint's own.
  std::size_t image_size = 0;
  // Attention heads, where neither a config.json nor a known model's shape says them. 0: the checkpoint's
  // own.
  std::size_t heads = 0;
};

// What goes into a step. Tokens stand in the order special tokens, prompts, patches; prompts carry no
// position, so their order means nothing.
struct Batch {
  std::size_t images = 0;
  std::size_t prompts_per_image = 0;
  MatrixView<const float> patches;  // [images·patches, width], from embed()
  // [prompts_per_image, width], shared by all images; or [images·prompts_per_image, width], each its own.
  MatrixView<const float> prompts;

  bool shares_prompts() const { return prompts.rows() == prompts_per_image; }
};

class Backbone {
 public:
  // What forward() leaves for backward(). Reusing one saves its allocation.
  class Tape {
   public:
    virtual ~Tape() = default;
  };

  virtual ~Backbone() = default;
  virtual const Geometry& geometry() const = 0;
  virtual Precision precision() const = 0;
  virtual std::size_t weight_bytes() const = 0;
  virtual std::unique_ptr<Tape> make_tape() const = 0;

  // pixels [images·patches, 3·patch²], normalised, → [images·patches, width] with position embeddings. It
  // does not depend on the prompts: a caller that sees an image often may keep it.
  virtual void embed(MatrixView<const float> pixels, MatrixView<float> patches,
                     ThreadPool* threads) const = 0;

  // features [images·special_tokens, width]: the special tokens after the final norm, CLS first. With a tape
  // it can be followed by backward(); `batch` need not outlive the call. threads may be null.
  virtual void forward(const Batch& batch, MatrixView<float> features, Tape* tape,
                       ThreadPool* threads) const = 0;

  // d_features as features; d_prompts as the batch's prompts: summed over images where they are shared.
  virtual void backward(MatrixView<const float> d_features, MatrixView<float> d_prompts, Tape& tape,
                        ThreadPool* threads) const = 0;

  // The checkpoint's own classifier: [images·special_tokens, width] → [images, classes]. Needs classes > 0.
  virtual void classify(MatrixView<const float> features, MatrixView<float> logits) const = 0;
  // d_logits [images, classes] → d_features as features, for what is trained on top of those logits.
  virtual void classify_backward(MatrixView<const float> d_logits, MatrixView<float> d_features) const = 0;
};

// A name ("frost-mini", which comes with dfrost, or what `dfrost backbone get` has fetched), a safetensors
// file or PyTorch archive, or a folder as Hugging Face lays it out. How its pictures are prepared:
// preprocessing.h. Throws (failed_precondition) where the number of attention heads could only be guessed.
std::unique_ptr<Backbone> load_backbone(const std::filesystem::path& name_or_path,
                                        const BackboneOptions& options = {});

// Where a name leads on this machine; what is no name (has a '/' or a '.') or exists stays as it is. Names
// are looked for in $DFROST_BACKBONES (else $XDG_DATA_HOME/dfrost/backbones, else
// ~/.local/share/dfrost/backbones) and in what was installed with dfrost. Throws (not_found) where there is
// none of that name.
std::filesystem::path find_backbone(const std::filesystem::path& name_or_path);

// Another folder of folders to look for names in. A program that was linked by dfrost's CMake package knows
// the package's own already; one that carries its backbones along adds theirs.
void add_backbone_folder(const std::filesystem::path& folder);

}  // namespace dfrost
