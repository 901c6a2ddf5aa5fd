// Unpacks tar archives (plain, gzip, xz …) through libarchive. Only regular files and folders, only below the
// target, whatever the archive says; all of it or nothing.
#pragma once

#include <filesystem>
#include <string>

namespace dfrost {

// The beginning of the names of folders that archives are unpacked in.
inline constexpr const char* kUnpackingFolder = ".unpacking-";

// The entries below `inside` ("" for all), without that prefix, appear in `folder`.
void unpack_archive(const std::filesystem::path& archive, const std::filesystem::path& folder,
                    const std::string& inside = {});

}  // namespace dfrost
