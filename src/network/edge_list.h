// Reading a graph from a text file: two client numbers per line, split by spaces, a tab or a comma; # begins
// a comment. A link may be listed from both of its ends.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "network/graph.h"

namespace dfrost {

// Throws (data_loss) naming the line. `place` is where errors say they happened.
std::vector<Edge> parse_edge_list(std::string_view text, std::size_t clients, const std::string& place);

std::vector<Edge> read_edge_list(const std::filesystem::path& path, std::size_t clients);

}  // namespace dfrost
