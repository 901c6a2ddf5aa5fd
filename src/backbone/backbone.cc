#include "dfrost/backbone.h"

#include <fmt/format.h>

#include "backbone/checkpoint.h"
#include "backbone/weights.h"
#include "base/thread_pool.h"
#include "dfrost/error.h"
#include "kernels/cpu.h"

namespace dfrost {
namespace {

// By name or path, at another input size and with other heads unless those are 0.
std::unique_ptr<Checkpoint> open_at(const std::filesystem::path& name_or_path, std::size_t image_size,
                                    std::size_t heads = 0) {
  CheckpointOptions how;
  if (image_size != 0) how.image_size = image_size;
  if (heads != 0) how.heads = heads;
  return open_checkpoint(find_backbone(name_or_path), how);
}

}  // namespace

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

Precision resolve_precision(Precision wanted) {
  if (wanted == Precision::fp32) return wanted;
  if (wanted == Precision::automatic) return bf16_is_faster() ? Precision::bf16 : Precision::fp32;
  if (bf16_usable()) return Precision::bf16;
  throw Error(ErrorCode::invalid_argument,
              "this machine cannot run bf16: it has neither AMX tiles that work nor AVX512_BF16",
              "take the precision auto or fp32 (--precision, or backbone.precision of an experiment)");
}

std::unique_ptr<Backbone> load_backbone(const std::filesystem::path& name_or_path,
                                        const BackboneOptions& options) {
  const auto checkpoint = open_at(name_or_path, options.image_size, options.heads);
  // A library has nowhere to say that something is doubtful.
  if (const auto doubt = doubt_about_heads(*checkpoint, options.heads != 0); doubt && options.heads == 0)
    throw Error(ErrorCode::failed_precondition, doubt->what, doubt->hint).at(name_or_path.string());
  return make_backbone(*checkpoint, options);
}

Preprocessing load_preprocessing(const std::filesystem::path& name_or_path, std::size_t image_size) {
  return open_at(name_or_path, image_size)->preprocessing();
}

std::unique_ptr<Backbone> make_backbone(const WeightSource& source, const BackboneOptions& options,
                                        WeightMemory* memory) {
  const bool fp32_alone = !source.runs(Precision::bf16);
  if (fp32_alone && options.precision == Precision::bf16) {
    throw Error(
        ErrorCode::unimplemented,
        fmt::format("a backbone of the architecture '{}' runs in fp32 alone", source.geometry().architecture),
        "take the precision auto or fp32 (--precision, or backbone.precision of an experiment)");
  }
  const auto precision = fp32_alone ? Precision::fp32 : resolve_precision(options.precision);
  ThreadPool threads;  // to pack the blocks side by side; a step brings its own
  return source.make_backbone(
      {.precision = precision, .training = options.training, .threads = &threads, .shelf = {memory}});
}

}  // namespace dfrost
