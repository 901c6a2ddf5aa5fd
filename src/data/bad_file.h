// The error of a corrupt, truncated or mislabelled file: what is wrong with which file, at which byte.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>

#include "dfrost/error.h"

namespace dfrost {

inline Error bad_file(const std::string& place, std::size_t offset, const std::string& what) {
  return Error(ErrorCode::data_loss, fmt::format("{}: {}", place, what), "fetch or copy the file again")
      .at(fmt::format("{}, byte {}", place, offset));
}

}  // namespace dfrost
