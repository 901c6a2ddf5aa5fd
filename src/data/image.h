// A picture in memory: interleaved RGB bytes, rows from the top, no padding between rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dfrost {

// Owned elsewhere.
struct ImageView {
  const std::uint8_t* rgb = nullptr;
  std::size_t width = 0;
  std::size_t height = 0;
};

struct Image {
  std::size_t width = 0;
  std::size_t height = 0;
  std::vector<std::uint8_t> rgb;
  ImageView view() const { return {rgb.data(), width, height}; }
};

}  // namespace dfrost
