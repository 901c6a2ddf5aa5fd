#include "cli/command.h"

namespace dfrost::cli {

void add_backbone_commands(CLI::App& app) {
  auto* backbone = add_command(
      app, "backbone", "Look at a checkpoint and check what it computes.",
      {"dfrost backbone inspect model.safetensors   what a checkpoint is, and how it will run here"});
  backbone->require_subcommand(1);
  add_backbone_inspect_command(*backbone);
  add_backbone_probe_command(*backbone);
  add_backbone_moments_command(*backbone);
  add_backbone_get_command(*backbone);
}

}  // namespace dfrost::cli
