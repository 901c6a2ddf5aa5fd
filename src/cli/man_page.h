// The manual page dfrost(1), in the language of man(7): every command with its options, as its --help has
// them.
#pragma once

#include <string>

#include "cli/command_tree.h"

namespace dfrost::cli {

std::string man_page(const CommandEntry& root);

}  // namespace dfrost::cli
