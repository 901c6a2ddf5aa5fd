// A partition as text, for splits made elsewhere: CSV lines "picture,client" in any order, one for every
// training picture, after a header or none. A picture is named as its file is in its folder or list
// ("bee/one.jpg"), with "DOMAIN:" in front where that could be several, or by its number in the pooled
// training set, domain after domain, from 0. Clients are numbers from 0; where one of them is not, all are
// names, numbered in the order in which they come.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "partition/partition.h"

namespace dfrost {

// Every training picture must be named exactly once, and every client get at least `min_per_client`; the
// error names the line. Lines of test pictures are passed over: who has sorted all pictures need not know
// which of them are held out.
Partition parse_partition(std::string_view text, const std::string& place, const Corpus& corpus,
                          std::size_t min_per_client);
Partition read_partition(const std::filesystem::path& path, const Corpus& corpus, std::size_t min_per_client);

// Pictures by their names where those tell them apart, else by their numbers.
std::string partition_text(const Partition& partition, const Corpus& corpus);

}  // namespace dfrost
