#include "backbone/chunked_backbone.h"
#include "backbone/encoder-inl.h"
#include "backbone/make_backbone.h"
#include "kernels/bf16_ops.h"

namespace dfrost {

std::unique_ptr<Backbone> make_bf16_backbone(const WeightSource& source, bool training, ThreadPool* threads) {
  return std::make_unique<ChunkedBackbone<Bf16Ops>>(source, Precision::bf16, training, threads);
}

}  // namespace dfrost
