#include "base/version.h"

namespace dfrost {

std::string_view version() { return DFROST_VERSION; }

}  // namespace dfrost
