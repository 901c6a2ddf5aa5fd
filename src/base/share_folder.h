// Where what comes with dfrost lies: in share/dfrost, beside the executable in a build, and beside its bin/
// once installed, wherever that was moved to.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace dfrost {

// Where to look for one of its folders ("backbones", "studies"), the first first; it need not be there. None
// where the system does not say which program this is.
std::vector<std::filesystem::path> shipped_folders(std::string_view name);

}  // namespace dfrost
