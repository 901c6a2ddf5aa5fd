// Many picture files → one PictureSet, in the order given, whatever the number of threads. Small pictures are
// kept as pixels, larger ones as the file's own bytes. A file that cannot be used is left out and counted.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "data/dataset.h"
#include "data/read_options.h"

namespace dfrost {

struct LabelledFile {
  std::filesystem::path path;
  int label = 0;
  std::string name = {};  // in its set
};

PictureSet read_picture_files(std::span<const LabelledFile> files, const ReadOptions& options,
                              SkippedFiles& skipped);

// By its ending, in any case: .png, .jpg, .jpeg, .jpe, .jfif, .webp, .gif.
bool has_picture_name(const std::filesystem::path& path);

// By its ending; a file without one by its first bytes.
bool looks_like_picture(const std::filesystem::path& path);

// Why a file that does not look like a picture is left out: formats that are not read are named.
std::string why_no_picture(const std::filesystem::path& path);

}  // namespace dfrost
