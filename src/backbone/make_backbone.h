// The two arithmetics a backbone can run in, each compiled in a file of its own.
#pragma once

#include <memory>

#include "dfrost/backbone.h"
#include "kernels/peak.h"

namespace dfrost {

std::unique_ptr<Backbone> make_fp32_backbone(const WeightSource& source, bool training, ThreadPool* threads);
// Needs amx_bf16_usable().
std::unique_ptr<Backbone> make_bf16_backbone(const WeightSource& source, bool training, ThreadPool* threads);

// The speed of the matrix product that a backbone of this precision would use.
double measure_product_gflops_in(Precision precision, const ProductShapes& shape, std::size_t threads,
                                 double seconds);

}  // namespace dfrost
