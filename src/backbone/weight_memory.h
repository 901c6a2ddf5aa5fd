// How much memory a frozen model's weights will take once they are packed, without packing them.
#pragma once

#include <cstddef>

#include "dfrost/backbone.h"
#include "dfrost/geometry.h"

namespace dfrost {

// Every matrix of the blocks once forward and, for training, once backward, in 4 bytes (fp32) or 2 (bf16) per
// value; the patch embedding forward alone; biases, tokens, positions and classifiers in fp32 once. Padding
// of odd widths and what a step needs beside the weights come on top. `precision` is fp32 or bf16.
std::size_t packed_weight_bytes(const Geometry& geometry, Precision precision, bool training);

}  // namespace dfrost
