// A partition as text, for splits made elsewhere: a line "picture,client" for every training picture, both
// counted from 0, in any order; an optional first line "picture,client". Pictures are numbered as in the
// pooled training set, domain after domain.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "partition/partition.h"

namespace dfrost {

// Every one of `pictures` must be named exactly once and every client up to the highest must get at least
// `min_per_client`; the error names the line.
Partition parse_partition(std::string_view text, const std::string& place, std::size_t pictures,
                          std::size_t min_per_client);
Partition read_partition(const std::filesystem::path& path, std::size_t pictures, std::size_t min_per_client);

void write_partition(const std::filesystem::path& path, const Partition& partition);

}  // namespace dfrost
