#include "backbone/preparation_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dfrost {

std::string preparation_text(const Preprocessing& how) {
  return fmt::format("{} {} {} {} {} {}", how.resize, how.stretch, static_cast<int>(how.filter), how.crop,
                     fmt::join(how.mean, " "), fmt::join(how.std, " "));
}

}  // namespace dfrost
