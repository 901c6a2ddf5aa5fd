// "host:port" taken apart: "clinic.example:7443", "10.0.0.7:7443", "[::1]:7443", and ":0" to listen with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dfrost {

struct NetworkAddress {
  std::string host;  // without brackets; may be empty to listen with
  std::uint16_t port = 0;
};

// Throws (invalid_argument).
NetworkAddress parse_network_address(std::string_view text);

}  // namespace dfrost
