#include "backbone/chunked_backbone.h"
#include "backbone/encoder-inl.h"
#include "backbone/make_backbone.h"
#include "kernels/fp32_ops.h"

namespace dfrost {

std::unique_ptr<Backbone> make_fp32_backbone(const WeightSource& source, bool training, ThreadPool* threads) {
  return std::make_unique<ChunkedBackbone<Fp32Ops>>(source, Precision::fp32, training, threads);
}

}  // namespace dfrost
