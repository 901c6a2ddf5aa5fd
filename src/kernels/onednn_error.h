// What oneDNN says went wrong, as our own error: mostly that there was no memory, which must end a run with a
// word, not with numbers that were never computed.
#pragma once

#include "dfrost/error.h"

namespace dfrost {

// `status`: a dnnl_status_t other than success.
Error onednn_error(int status);

}  // namespace dfrost
