// What bash, zsh and fish read to complete command lines of dfrost: commands, options and values that can be
// listed, with their descriptions where a shell shows them; file names everywhere else.
#pragma once

#include <string>

#include "cli/command_tree.h"

namespace dfrost::cli {

std::string bash_completion(const CommandEntry& root);
std::string zsh_completion(const CommandEntry& root);
std::string fish_completion(const CommandEntry& root);

}  // namespace dfrost::cli
