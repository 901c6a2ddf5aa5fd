#include "backbone/chunked_backbone.h"
#include "backbone/convit.h"
#include "backbone/convit_encoder-inl.h"
#include "kernels/bf16_ops.h"

namespace dfrost {

std::unique_ptr<Backbone> make_convit_bf16(const ConvitWeights& weights, const Packing& packing) {
  using Encoder = ConvitEncoder<Bf16Ops>;
  return std::make_unique<ChunkedBackbone<Encoder>>(Encoder(weights, packing), weights.read_heads(),
                                                    Precision::bf16);
}

}  // namespace dfrost
