#include "dfrost/backbone.h"

#include <fmt/format.h>

#include "backbone/checkpoint.h"
#include "backbone/make_backbone.h"
#include "backbone/weights.h"
#include "base/thread_pool.h"
#include "dfrost/error.h"
#include "kernels/fp32_ops.h"

namespace dfrost {

std::string_view to_string(Precision precision) {
  switch (precision) {
    case Precision::automatic: return "auto";
    case Precision::fp32: return "fp32";
    case Precision::bf16: return "bf16";
  }
  return "unknown";
}

Precision parse_precision(std::string_view name) {
  for (const auto precision : {Precision::automatic, Precision::fp32, Precision::bf16}) {
    if (name == to_string(precision)) return precision;
  }
  throw Error(ErrorCode::invalid_argument, fmt::format("unknown precision '{}'", name),
              "one of auto, fp32, bf16");
}

std::unique_ptr<Backbone> load_backbone(const std::filesystem::path& path, const BackboneOptions& options) {
  CheckpointOptions how;
  if (options.image_size != 0) how.image_size = options.image_size;
  const auto checkpoint = open_checkpoint(path, how);
  auto backbone = make_backbone(*checkpoint, options);
  checkpoint->release_pages();
  return backbone;
}

std::unique_ptr<Backbone> make_backbone(const WeightSource& source, const BackboneOptions& options) {
  ThreadPool threads;
  return make_fp32_backbone(source, options.training, &threads);
}

double measure_product_gflops_in(Precision, const ProductShapes& shape, std::size_t threads, double seconds) {
  return measure_product_gflops<Fp32Ops>(shape, threads, seconds);
}

}  // namespace dfrost
