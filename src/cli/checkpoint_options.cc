#include "cli/checkpoint_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backbone/checkpoint_config.h"
#include "cli/backbone_path.h"
#include "cli/command.h"

namespace dfrost::cli {

void add_checkpoint_options(CLI::App& command, CheckpointOptions& options) {
  command.add_option("--image-size", options.image_size,
                     "Pixels of the model's input; position embeddings are interpolated");
  add_heads_option(command, options);
  command.add_option("--preprocessing", options.preprocessing,
                     fmt::format("How pictures are prepared, whatever the files say: {}",
                                 fmt::join(preprocessing_styles(), ", ")));
}

void add_heads_option(CLI::App& command, CheckpointOptions& options) {
  command
      .add_option("--heads", options.heads,
                  "Attention heads, where no config.json beside the checkpoint says")
      ->check(CLI::PositiveNumber);
}

std::unique_ptr<Checkpoint> open_named_checkpoint(const std::string& path_or_name,
                                                  const CheckpointOptions& options) {
  auto checkpoint = open_checkpoint(find_backbone(path_or_name), options);
  if (const auto doubt = doubt_about_heads(*checkpoint, options.heads.has_value()))
    tell_warning(doubt->what, doubt->hint);
  return checkpoint;
}

void tell_doubt_about_pictures(const Checkpoint& checkpoint) {
  if (const auto doubt = doubt_about_pictures(checkpoint)) tell_warning(doubt->what, doubt->hint);
}

}  // namespace dfrost::cli
