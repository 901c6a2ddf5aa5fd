#include "backbone/chunked_backbone.h"
#include "backbone/convit.h"
#include "backbone/convit_encoder-inl.h"
#include "kernels/fp32_ops.h"

namespace dfrost {

std::unique_ptr<Backbone> make_convit_fp32(const ConvitWeights& weights, const Packing& packing) {
  using Encoder = ConvitEncoder<Fp32Ops>;
  return std::make_unique<ChunkedBackbone<Encoder>>(Encoder(weights, packing), weights.read_heads(),
                                                    Precision::fp32);
}

}  // namespace dfrost
