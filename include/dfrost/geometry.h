// The shape of a vision transformer.
#pragma once

#include <cstddef>
#include <string_view>

namespace dfrost {

struct Geometry {
  std::size_t width = 0;           // d: the length of a token
  std::size_t depth = 0;           // blocks
  std::size_t heads = 0;           // width / heads is the length of a head, 64 in every published ViT
  std::size_t mlp_width = 0;       // usually 4·width
  std::size_t patch_size = 0;      // pixels
  std::size_t image_size = 0;      // pixels; a multiple of patch_size
  std::size_t special_tokens = 1;  // 1: CLS; 2: CLS and DeiT's distillation token
  std::size_t classes = 0;         // of the checkpoint's own head; 0 when it has none
  std::size_t gated_blocks = 0;    // a ConViT's: as many of its blocks, from the first on
  float layer_norm_epsilon = 1e-6f;
  std::string_view architecture = "vit";  // a name in the table of architectures; static storage

  std::size_t patches() const { return (image_size / patch_size) * (image_size / patch_size); }
  std::size_t patch_values() const { return 3 * patch_size * patch_size; }
  std::size_t head_size() const { return width / heads; }
  std::size_t tokens(std::size_t prompts) const { return special_tokens + prompts + patches(); }
};

}  // namespace dfrost
