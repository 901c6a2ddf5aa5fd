// The architectures that a frozen model may have, as one table (architecture.cc). A checkpoint's tensors tell
// which one it is; its name then goes with the geometry, so that whoever holds a geometry finds the rest.
// What needs the weights themselves, packing them into a Backbone above all, is a member of the WeightSource
// that a row opens. A new architecture is its own files (as vit*.h/.cc) and a row.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "backbone/checkpoint_layout.h"
#include "backbone/weights.h"
#include "base/random.h"

namespace dfrost {

// Floating-point operations that a step really executes per image: two for each multiply-add of its matrix
// products and attention, the exact savings already taken off. Norms, GELU and softmax are not counted.
struct StepFlops {
  double forward = 0;  // patch embedding included
  double backward = 0;
};

// How pictures are prepared where neither a file nor the user says: by a style's name (checkpoint_config.h).
struct DefaultPreprocessing {
  std::string style;
  bool guess = false;  // models under such names were trained in several ways, and nothing tells which
};

struct Architecture {
  std::string_view name;  // Geometry::architecture

  // Whether tensors of these names are a checkpoint of it. The first row that says yes is taken.
  bool (*recognises)(const TensorDescriptions& tensors);

  // See infer_layout, for tensors that it recognises.
  CheckpointLayout (*infer_layout)(const TensorDescriptions& tensors, const CheckpointConfig& config,
                                   std::size_t heads);

  DefaultPreprocessing (*default_preprocessing)(const CheckpointLayout& layout,
                                                const std::filesystem::path& path);

  // The store must outlive what is returned. `geometry`: the layout's, for the image size that is wanted.
  std::unique_ptr<WeightSource> (*open_weights)(const TensorStore& store, const CheckpointLayout& layout,
                                                const Geometry& geometry);

  // See random_weights.h.
  std::unique_ptr<WeightSource> (*random_weights)(const Geometry& geometry, Seed seed);

  StepFlops (*flops)(const Geometry& geometry, std::size_t prompts);

  // See packed_weight_bytes.
  std::size_t (*weight_bytes)(const Geometry& geometry, Precision precision, bool training);
};

// Throws Error (data_loss) where the tensors are of no architecture in the table.
const Architecture& architecture_of(const TensorDescriptions& tensors);
const Architecture& architecture_of(const Geometry& geometry);

}  // namespace dfrost
