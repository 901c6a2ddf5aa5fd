// What oneDNN says went wrong, as our own error: mostly that there was no memory, which must end a run with a
// word, not with numbers that were never computed.
#pragma once

#include "dfrost/error.h"

namespace dfrost {

// `status`: a dnnl_status_t other than success.
Error onednn_error(int status);

// Before oneDNN makes machine code for something that it has not computed before: version 2.6 writes it to
// where its memory would be without looking whether it got any. Throws (resource_exhausted) where there is
// not room enough for the largest that it makes. Another thread that takes the room meanwhile is not seen.
void require_room_for_code();

}  // namespace dfrost
