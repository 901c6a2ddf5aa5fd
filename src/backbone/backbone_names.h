// Backbones by their names: those that come with dfrost, and those that were fetched. A name stands for a
// folder of that name with a checkpoint in it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dfrost/backbone.h"

namespace dfrost {

// Whether it is a name to look up, not a file or folder.
bool is_backbone_name(const std::filesystem::path& path);

// $DFROST_BACKBONES, else $XDG_DATA_HOME/dfrost/backbones, else ~/.local/share/dfrost/backbones.
std::filesystem::path default_backbone_root();

// As find_backbone(); nothing where there is none of that name.
std::optional<std::filesystem::path> locate_backbone(const std::filesystem::path& name_or_path);

// What comes with dfrost: in share/dfrost (base/share_folder.h), and where add_backbone_folder() says.
std::vector<std::string> shipped_backbones();
std::optional<std::filesystem::path> find_shipped_backbone(const std::string& name);

}  // namespace dfrost
