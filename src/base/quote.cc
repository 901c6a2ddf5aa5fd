#include "base/quote.h"

#include <fmt/format.h>

namespace dfrost {

std::string escape_controls(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      escaped += fmt::format("\\x{:02x}", byte);
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string quote_name(std::string_view name) {
  constexpr std::size_t kLongestShown = 120;
  return fmt::format("'{}{}'", escape_controls(name.substr(0, kLongestShown)),
                     name.size() > kLongestShown ? "…" : "");
}

}  // namespace dfrost
