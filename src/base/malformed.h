// How the readers of outside bytes refuse them. The caller that knows the file adds its place.
#pragma once

#include <string>

#include "dfrost/error.h"

namespace dfrost {

[[noreturn]] inline void malformed(const std::string& message) { throw Error(ErrorCode::data_loss, message); }

}  // namespace dfrost
