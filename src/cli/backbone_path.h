// A backbone as people name it: a file, a folder, the name of one that comes with dfrost, or the name under
// which `dfrost backbone get` keeps it.
#pragma once

#include <filesystem>
#include <string>

namespace dfrost::cli {

// As the library's, but knows what could be fetched: throws (not_found, with the command that fetches it)
// where such a name is not there yet, and (invalid_argument) where nobody knows it.
std::filesystem::path find_backbone(const std::string& path_or_name);

}  // namespace dfrost::cli
