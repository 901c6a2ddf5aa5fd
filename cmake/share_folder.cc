// Compiled into every program that links dfrost::engine by CMake: says where what came with dfrost lies, so
// that load_backbone("frost-mini") finds it. A static library alone could not know where it was installed.
#include "dfrost/backbone.h"

namespace {

[[maybe_unused]] const bool folder_is_known =
    (dfrost::add_backbone_folder(DFROST_SHARE_FOLDER "/backbones"), true);

}  // namespace
