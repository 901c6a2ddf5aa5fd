// A word to the service manager (systemd's sd_notify protocol): a datagram to the socket that it names in
// $NOTIFY_SOCKET. Without one nothing happens.
#pragma once

#include <string_view>

namespace dfrost {

// "READY=1", "STATUS=round 7 of 40", "WATCHDOG=1", several with newlines between.
void notify_service(std::string_view state) noexcept;

}  // namespace dfrost
