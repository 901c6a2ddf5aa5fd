#include "backbone/chunked_backbone.h"
#include "backbone/vit.h"
#include "backbone/vit_encoder-inl.h"
#include "kernels/bf16_ops.h"

namespace dfrost {

std::unique_ptr<Backbone> make_vit_bf16(const VitWeights& weights, const Packing& packing) {
  using Encoder = VitEncoder<Bf16Ops>;
  return std::make_unique<ChunkedBackbone<Encoder>>(Encoder(weights, packing), weights.read_heads(),
                                                    Precision::bf16);
}

}  // namespace dfrost
