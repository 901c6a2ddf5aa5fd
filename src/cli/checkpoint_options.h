// The options of every command that opens a checkpoint.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "backbone/checkpoint.h"

namespace dfrost::cli {

// Declares --image-size, --heads and --preprocessing.
void add_checkpoint_options(CLI::App& command, CheckpointOptions& options);
// --heads alone, where pictures are not prepared.
void add_heads_option(CLI::App& command, CheckpointOptions& options);

// Opens a file, a folder or a name, and says on stderr what is doubtful about its heads.
std::unique_ptr<Checkpoint> open_named_checkpoint(const std::string& path_or_name,
                                                  const CheckpointOptions& options);
// Says on stderr what is doubtful about how it wants pictures prepared.
void tell_doubt_about_pictures(const Checkpoint& checkpoint);

}  // namespace dfrost::cli
