#include "federation/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

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

[[noreturn]] void refuse_address(std::string_view text, const std::string& why) {
  throw Error(ErrorCode::invalid_argument, fmt::format("{} is not an address: {}", quote_name(text), why),
              "write host:port, such as a.example:7443, 192.0.2.7:7443 or [2001:db8::7]:7443");
}

std::uint16_t parse_port(std::string_view text, std::string_view digits) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
    refuse_address(text, "its port is not a number from 1 to 65535");
  return port;
}

Address split_address(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) refuse_address(text, "it has no port");
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  if (host.size() > kLongestHost) refuse_address(text, "its host is too long");
  if (host.starts_with('[')) {
    if (!host.ends_with(']') || host.size() < 4 || !all_of(host.substr(1, host.size() - 2), ":.%"))
      refuse_address(text, "what stands in brackets is no IPv6 address");
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    refuse_address(text, "an IPv6 address needs brackets");
  } else if (!all_of(host, ".-_") || host.starts_with('-')) {
    refuse_address(text, "its host has a character that no host has");
  }
  return {std::string(host), parse_port(text, digits)};
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

Address parse_address(std::string_view text) {
  Address address = split_address(text);
  if (address.host.empty()) refuse_address(text, "it has no host");
  if (address.port == 0) refuse_address(text, "its port is not a number from 1 to 65535");
  return address;
}

Address parse_listen_address(std::string_view text) { return split_address(text); }

}  // namespace dfrost
