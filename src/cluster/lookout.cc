#include "cluster/lookout.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <utility>

#include "dfrost/error.h"

namespace dfrost {
namespace {

sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  // Whoever started us under nohup wants us to outlive the terminal.
  struct sigaction now {};
  if (sigaction(SIGHUP, nullptr, &now) != 0 || now.sa_handler != SIG_IGN) sigaddset(&set, SIGHUP);
  return set;
}

}  // namespace

Lookout::Lookout() {
  const sigset_t set = ending_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = signalfd(-1, &set, SFD_CLOEXEC);
  enough_ = eventfd(0, EFD_CLOEXEC);
  if (signals_ < 0 || enough_ < 0)
    throw Error(ErrorCode::resource_exhausted, "the system gives no more files to wait on");
}

void Lookout::start(std::function<void()> act) {
  thread_ = std::thread([this, act = std::move(act)] {
    std::array<pollfd, 2> waiting = {pollfd{signals_, POLLIN, 0}, pollfd{enough_, POLLIN, 0}};
    while (::poll(waiting.data(), waiting.size(), -1) < 0 && errno == EINTR) {
    }
    if ((waiting[1].revents & POLLIN) == 0) act();
  });
}

Lookout::~Lookout() {
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(enough_, &one, sizeof one);
    thread_.join();
  }
  ::close(signals_);
  ::close(enough_);
  // They stay blocked: what comes between here and the end of the process would end it by a signal.
}

}  // namespace dfrost
