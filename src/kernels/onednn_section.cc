#include "kernels/onednn_section.h"

#include <omp.h>
#include <pthread.h>

#include <csignal>
#include <initializer_list>

namespace dfrost {
namespace {

// All but those that a thread raises by its own instructions: blocked, they would end the process.
sigset_t signals_from_elsewhere() {
  sigset_t signals;
  sigfillset(&signals);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) sigdelset(&signals, own);
  return signals;
}

thread_local sigset_t mask_before;

}  // namespace

void OneDnnSection::enter() {
  thread_local const bool on_one_thread = (omp_set_num_threads(1), true);
  static_cast<void>(on_one_thread);
  static const sigset_t signals = signals_from_elsewhere();
  pthread_sigmask(SIG_BLOCK, &signals, &mask_before);
}

void OneDnnSection::leave() { pthread_sigmask(SIG_SETMASK, &mask_before, nullptr); }

}  // namespace dfrost
