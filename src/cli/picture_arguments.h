// What the commands that name pictures do with the list they are given: one picture at a time, and one that
// cannot be read spoils nothing but itself.
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "cli/command.h"
#include "dfrost/image.h"

namespace dfrost::cli {

// Calls `look` with each. Of one that is no picture to be read, the error goes to stderr and, with its path,
// to `list`; where it is the only one it is thrown. Returns how many there were of these.
std::size_t look_at_pictures(std::span<const std::string> paths, nlohmann::ordered_json& list,
                             const std::function<void(const std::string& path)>& look);

// --exif apply|ignore: whether pictures are turned upright as their cameras noted.
void add_exif_option(CLI::App& command, std::string& exif);
ExifOrientation parse_exif(const std::string& word);

// For the end, when everything else is printed. Throws (data_loss) where some could not be read.
void require_all_read(std::size_t unreadable, std::size_t pictures);

}  // namespace dfrost::cli
