// Position embeddings for another image size: bicubic interpolation over the grid of patches (Keys' kernel
// with a = -0.75, half-pixel centres, edges repeated), as torch.nn.functional.interpolate computes it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace dfrost {

// [grid·grid, width] row by row -> [new_grid·new_grid, width].
std::vector<float> interpolate_positions(std::span<const float> positions, std::size_t grid,
                                         std::size_t new_grid, std::size_t width);

}  // namespace dfrost
