#include "federation/listening.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "dfrost/error.h"

namespace dfrost {
namespace {

std::string hint_for(int error, std::uint16_t port) {
  if (error == EADDRINUSE)
    return fmt::format("another program has the port: 'ss -ltnp' says which; or take another port");
  if (error == EACCES) return fmt::format("port {} is kept for the system: take one above 1023", port);
  if (error == EADDRNOTAVAIL) return "this machine has no such address: 0.0.0.0 stands for all it has";
  return {};
}

}  // namespace

void try_to_listen(const NetworkAddress& address) {
  addrinfo wanted = {}, *found = nullptr;
  wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  wanted.ai_socktype = SOCK_STREAM;
  const std::string port = std::to_string(address.port);
  const int failed =
      ::getaddrinfo(address.host.empty() ? nullptr : address.host.c_str(), port.c_str(), &wanted, &found);
  if (failed != 0)
    throw Error(ErrorCode::unavailable, fmt::format("{}: {}", address.host, ::gai_strerror(failed)),
                "name an address of this machine: 0.0.0.0 stands for all it has");
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> first(found, ::freeaddrinfo);
  const int socket = ::socket(first->ai_family, first->ai_socktype | SOCK_CLOEXEC, first->ai_protocol);
  // As the wire does, so that a port that a stopped process leaves behind counts as free.
  const int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const bool free =
      socket >= 0 && ::bind(socket, first->ai_addr, first->ai_addrlen) == 0 && ::listen(socket, 1) == 0;
  const int error = errno;
  if (socket >= 0) ::close(socket);
  if (!free)
    throw Error(ErrorCode::unavailable,
                fmt::format("cannot listen on {}:{}: {}", address.host, address.port, std::strerror(error)),
                hint_for(error, address.port));
}

}  // namespace dfrost
