#include "network/tls/address.h"

#include <fmt/format.h>

#include <charconv>

#include "base/quote.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

[[noreturn]] void refuse_address(std::string_view text, std::string_view why) {
  throw Error(ErrorCode::invalid_argument, fmt::format("{} is no address: {}", quote_name(text), why),
              "write host:port, such as clinic.example:7443, 10.0.0.7:7443 or [2001:db8::7]:7443");
}

}  // namespace

NetworkAddress parse_network_address(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) refuse_address(text, "it has no port");
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  NetworkAddress address;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc() || end != port.data() + port.size() || port.empty())
    refuse_address(text, "its port is no number up to 65535");
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    refuse_address(text, "an IPv6 address stands in brackets");
  }
  for (const char c : host) {
    if (c <= ' ' || c == '/' || c == 0x7f) refuse_address(text, "its host has a character that no host has");
  }
  address.host = host;
  return address;
}

}  // namespace dfrost
