// How pictures are prepared, in a line: equal lines prepare alike. For what must not be mixed up.
#pragma once

#include <string>

#include "dfrost/preprocessing.h"

namespace dfrost {

std::string preparation_text(const Preprocessing& how);

}  // namespace dfrost
