#include "backbone/architecture.h"

#include <fmt/format.h>

#include <array>

#include "backbone/convit.h"
#include "backbone/pixels.h"
#include "backbone/vit.h"
#include "base/quote.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

// In the order in which they are asked whether a checkpoint is theirs. A variant that keeps timm's names for
// most of its tensors, as ConViT does, comes before the plain transformer, which would take it for its own.
constexpr std::array kArchitectures = {
    Architecture{.name = "convit",
                 .recognises = is_convit,
                 .infer_layout = infer_convit_layout,
                 .default_preprocessing = convit_preprocessing,
                 .open_weights = open_convit_weights,
                 .random_weights = random_convit_weights,
                 .flops = convit_flops,
                 .weight_bytes = convit_weight_bytes},
    Architecture{.name = "vit",
                 .recognises = is_vit,
                 .infer_layout = infer_vit_layout,
                 .default_preprocessing = vit_preprocessing,
                 .open_weights = open_vit_weights,
                 .random_weights = random_vit_weights,
                 .flops = vit_flops,
                 .weight_bytes = vit_weight_bytes},
    // No tensors are its, so of its row only the costs are asked for.
    Architecture{.name = kPixels,
                 .recognises = never_pixels,
                 .infer_layout = nullptr,
                 .default_preprocessing = nullptr,
                 .open_weights = nullptr,
                 .random_weights = nullptr,
                 .flops = pixels_flops,
                 .weight_bytes = pixels_weight_bytes},
};

[[noreturn]] void refuse_unknown(const TensorDescriptions& tensors) {
  std::string some;
  for (const auto& [name, tensor] : tensors) {
    if (!some.empty()) some += ", ";
    some += quote_name(name);
    if (some.size() > 100) break;  // enough to recognise the file by
  }
  throw Error(ErrorCode::data_loss,
              tensors.empty() ? "no tensors, expected a vision transformer"
                              : fmt::format("not a vision transformer: its tensors are {} …", some),
              "expected 'patch_embed.proj.weight' (timm), 'conv_proj.weight' (torchvision) or "
              "'vit.embeddings.patch_embeddings.projection.weight' (Hugging Face)");
}

}  // namespace

const Architecture& architecture_of(const TensorDescriptions& tensors) {
  for (const auto& architecture : kArchitectures) {
    if (architecture.recognises(tensors)) return architecture;
  }
  refuse_unknown(tensors);
}

const Architecture& architecture_of(const Geometry& geometry) {
  for (const auto& architecture : kArchitectures) {
    if (architecture.name == geometry.architecture) return architecture;
  }
  throw Error(ErrorCode::internal, fmt::format("no architecture is called '{}'", geometry.architecture));
}

}  // namespace dfrost
