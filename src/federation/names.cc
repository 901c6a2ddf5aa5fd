#include "federation/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/quote.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

constexpr std::size_t kLongestHost = 253;  // of a name in the DNS

// The same in every locale.
bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool all_of(std::string_view text, std::string_view others) {
  return std::ranges::all_of(
      text, [&](char c) { return is_letter_or_digit(c) || others.find(c) != std::string_view::npos; });
}

// What a stranger's file may hold: more than the network code would try, and less.
NetworkAddress plain_address(std::string_view text) {
  NetworkAddress address = parse_network_address(text);
  const bool in_brackets = text.starts_with('[');
  if (address.host.size() <= kLongestHost && all_of(address.host, in_brackets ? ":.%" : ".-_") &&
      !address.host.starts_with('-'))
    return address;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} is no address: its host has a character that no host has, or too many",
                          quote_name(text)),
              "write host:port, such as clinic.example:7443");
}

}  // namespace

void check_member_name(std::string_view name) {
  const bool fits = !name.empty() && name.size() <= kLongestMemberName && is_letter_or_digit(name.front()) &&
                    all_of(name, "._-");
  if (fits) return;
  throw Error(
      ErrorCode::invalid_argument, fmt::format("{} cannot name a site", quote_name(name)),
      fmt::format("use 1 to {} letters, digits and . _ -, a letter or digit first", kLongestMemberName));
}

NetworkAddress parse_address(std::string_view text) {
  NetworkAddress address = plain_address(text);
  if (!address.host.empty() && address.port != 0) return address;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} is no address that others could dial: it has no {}", quote_name(text),
                          address.host.empty() ? "host" : "port above 0"),
              "write host:port, such as clinic.example:7443");
}

NetworkAddress parse_listen_address(std::string_view text) { return plain_address(text); }

}  // namespace dfrost
