#include "network/tls/tls_network.h"
namespace dfrost {
Probe probe_member(const WireOptions&, const PrivateKey&, ClientId, double) { return {}; }
}  // namespace dfrost
