// How many floating-point operations a step really executes per image: two for each multiply-add of its
// matrix products and attention, the exact savings already taken off. Norms, GELU and softmax are not
// counted.
#pragma once

#include "dfrost/geometry.h"

namespace dfrost {

double forward_flops(const Geometry& geometry, std::size_t prompts);  // patch embedding included
double backward_flops(const Geometry& geometry, std::size_t prompts);

}  // namespace dfrost
