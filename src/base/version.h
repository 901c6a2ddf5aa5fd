// The version of this dfrost, as `dfrost --version` and the records of a run state it.
#pragma once

#include <string_view>

namespace dfrost {

std::string_view version();  // "0.1.0"

}  // namespace dfrost
