// Studies that come with dfrost: TOML files in share/dfrost/studies (base/share_folder.h).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace dfrost {

// Names, sorted: "hostile"; with `below`, those of a folder of them: "paper/five".
std::vector<std::string> shipped_studies(const std::string& below = {});

// The file of a study: one that is there, or one that comes with dfrost by its name. Throws (not_found, with
// the nearest name as a hint).
std::filesystem::path find_study(const std::string& file_or_name);

}  // namespace dfrost
