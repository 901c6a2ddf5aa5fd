#include "backbone/chunked_backbone.h"
#include "backbone/vit.h"
#include "backbone/vit_encoder-inl.h"
#include "kernels/fp32_ops.h"

namespace dfrost {

std::unique_ptr<Backbone> make_vit_fp32(const VitWeights& weights, bool training, ThreadPool* threads) {
  using Encoder = VitEncoder<Fp32Ops>;
  return std::make_unique<ChunkedBackbone<Encoder>>(Encoder(weights, training, threads), weights.read_heads(),
                                                    Precision::fp32);
}

}  // namespace dfrost
