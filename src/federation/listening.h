// Whether an address of this machine can be listened on, without anybody noticing.
#pragma once

#include "network/tls/address.h"

namespace dfrost {

// Throws (unavailable) with what the system said and what to do about it.
void try_to_listen(const NetworkAddress& address);

}  // namespace dfrost
