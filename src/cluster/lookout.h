// Waits, in a thread of its own, for the signals that end a job: a launcher that has lost a rank, or was
// stopped itself, gives the others a second from SIGTERM to SIGKILL, and a thread that computes or waits in
// MPI would look up too late.
#pragma once

#include <functional>
#include <string>
#include <thread>

namespace dfrost {

// Keeps SIGINT, SIGTERM and SIGHUP from interrupting this thread and those that it starts. Before any are.
class Lookout {
 public:
  Lookout();
  ~Lookout();
  Lookout(const Lookout&) = delete;
  Lookout& operator=(const Lookout&) = delete;

  // From here on, `act` is called once, in another thread, when one of them comes; it ends the process.
  void start(std::function<void()> act);

 private:
  int signals_ = -1;  // what comes
  int enough_ = -1;   // that nobody needs to wait any more
  std::thread thread_;
};

}  // namespace dfrost
