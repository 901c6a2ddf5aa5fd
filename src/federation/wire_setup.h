// What the wire must know of a site and its federation.
#pragma once

#include "federation/site.h"
#include "network/tls/wire.h"

namespace dfrost {

// Everything but the round it starts in and the limits of its mailbox. Throws where it has not joined.
WireOptions wire_options(const Site& site);

}  // namespace dfrost
