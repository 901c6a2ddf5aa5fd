// A backbone as people name it: a file, a folder, the name of one that comes with dfrost, or the name under
// which `dfrost backbone get` keeps it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace dfrost::cli {

// Throws (not_found, with the command that fetches it) where a known name is not there yet.
std::filesystem::path find_backbone(const std::string& path_or_name);

// What comes with dfrost lies in share/dfrost, beside the executable in a build and beside its bin/ once
// installed, wherever that was moved to.
std::vector<std::string> shipped_backbones();
std::optional<std::filesystem::path> find_shipped_backbone(const std::string& name);

}  // namespace dfrost::cli
