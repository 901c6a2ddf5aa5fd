#include "cli/checkpoint_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backbone/checkpoint_config.h"

namespace dfrost::cli {

void add_checkpoint_options(CLI::App& command, CheckpointOptions& options) {
  command.add_option("--image-size", options.image_size,
                     "Pixels of the model's input; position embeddings are interpolated");
  command.add_option("--heads", options.heads,
                     "Attention heads, where no config.json says and width / 64 is wrong");
  command.add_option("--preprocessing", options.preprocessing,
                     fmt::format("How pictures are prepared, whatever the files say: {}",
                                 fmt::join(preprocessing_styles(), ", ")));
}

}  // namespace dfrost::cli
