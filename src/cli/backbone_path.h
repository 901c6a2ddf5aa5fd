// A backbone as people name it: a file, a folder, or the name under which `dfrost backbone get` keeps it.
#pragma once

#include <filesystem>
#include <string>

namespace dfrost::cli {

// Throws (not_found, with the command that fetches it) where a known name is not there yet.
std::filesystem::path find_backbone(const std::string& path_or_name);

}  // namespace dfrost::cli
