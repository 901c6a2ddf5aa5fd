#include "cli/command.h"

namespace dfrost::cli {

void add_backbone_commands(CLI::App& app) {
  auto* backbone = add_command(app, "backbone", "Look at a checkpoint and check what it computes.", {});
  backbone->require_subcommand(1);
}

}  // namespace dfrost::cli
