#include "network/letter.h"

#include <fmt/format.h>

namespace dfrost {

std::string to_string(const RunId& run) {
  std::string digits;
  for (const std::byte byte : run.bytes) digits += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return digits;
}

std::string_view to_string(LetterKind kind) {
  switch (kind) {
    case LetterKind::state: return "state";
    case LetterKind::moments: return "moments";
    case LetterKind::tangent: return "tangent";
  }
  return "unknown";
}

}  // namespace dfrost
