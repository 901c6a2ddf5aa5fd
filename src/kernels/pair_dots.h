// Blocks of a bf16 product by AVX-512's VDPBF16PS, which multiplies sixteen pairs and adds each to an fp32
// sum. AMD's cores from Zen 4 on do one a cycle, twice what they do in fp32; Intel's do not gain by it.
#pragma once

#include <cstddef>

#include "kernels/bf16.h"
#include "kernels/block_product.h"

namespace dfrost {

// multiply_block(). Needs a processor with AVX512_BF16.
void multiply_block_by_pairs(const LeftTiles& left, const Bf16* panel, std::size_t depth_tiles,
                             std::size_t row_tiles, float* out, std::size_t out_stride,
                             const Meanwhile& meanwhile);

}  // namespace dfrost
