// What sites are called and where they are reached. A name stands in logs, in tables and in names of files at
// other sites, so it is short and plain; an address is "host:port", with an IPv6 address in brackets.
#pragma once

#include <cstddef>
#include <string_view>

#include "network/tls/address.h"

namespace dfrost {

inline constexpr std::size_t kLongestMemberName = 40;

// 1 to 40 letters, digits and . _ -, a letter or digit first. Throws (invalid_argument) with what is allowed.
void check_member_name(std::string_view name);

// Where others reach a site: host and a port above 0. Throws (invalid_argument).
NetworkAddress parse_address(std::string_view text);

// Where a site listens: the host may be missing (every address of the machine), the port 0 (any).
NetworkAddress parse_listen_address(std::string_view text);

}  // namespace dfrost
