#include "backbone/chunked_backbone.h"
#include "backbone/vit.h"
#include "backbone/vit_encoder-inl.h"
#include "kernels/fp32_ops.h"

namespace dfrost {

std::unique_ptr<Backbone> make_vit_fp32(const VitWeights& weights, const Packing& packing) {
  using Encoder = VitEncoder<Fp32Ops>;
  return std::make_unique<ChunkedBackbone<Encoder>>(Encoder(weights, packing), weights.read_heads(),
                                                    Precision::fp32);
}

}  // namespace dfrost
