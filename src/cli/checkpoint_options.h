// The options of every command that opens a checkpoint.
#pragma once

#include <CLI/CLI.hpp>

#include "backbone/checkpoint.h"

namespace dfrost::cli {

// Declares --image-size, --heads and --preprocessing.
void add_checkpoint_options(CLI::App& command, CheckpointOptions& options);

}  // namespace dfrost::cli
