// The shape that every attention kernel works on: rows of [images·tokens, …], heads side by side in a row.
#pragma once

#include <cmath>
#include <cstddef>

namespace dfrost {

struct AttentionShape {
  std::size_t images = 0;
  std::size_t tokens = 0;  // per image
  std::size_t heads = 0;
  std::size_t head_size = 0;

  std::size_t rows() const { return images * tokens; }
  std::size_t width() const { return heads * head_size; }
  float scale() const { return 1.0f / std::sqrt(static_cast<float>(head_size)); }
};

}  // namespace dfrost
