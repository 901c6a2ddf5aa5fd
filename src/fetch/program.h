// Runs another program (a package client, say) without a shell: arguments are passed as they are.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace dfrost {

struct ProgramResult {
  int exit_code = -1;  // 128 + the signal's number if it was killed
  std::string output;  // stdout and stderr together, its last 64 KiB
};

// `arguments[0]` is looked up in $PATH. Error (not_found) if there is no such program.
ProgramResult run_program(const std::vector<std::string>& arguments, const std::filesystem::path& folder);

bool has_program(const std::string& name);

}  // namespace dfrost
