// A fixed set of threads that share the indices of a loop. Which thread runs which index is not fixed, so a
// body must write only what belongs to its index; then results do not depend on the number of threads.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace dfrost {

class ThreadPool {
 public:
  // 0: as many as this process may use. The calling thread is one of them: ThreadPool(1) starts none. Throws
  // (resource_exhausted) where the system gives no more threads.
  explicit ThreadPool(std::size_t threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  std::size_t size() const { return workers_.size() + 1; }

  // Calls body(index, worker) for every index in [0, count), worker in [0, size()), and returns when all are
  // done. The exception of the lowest failing index is thrown again here; later indices may then not have
  // run. One loop at a time; a body must not start another on the same pool.
  using Body = std::function<void(std::size_t index, std::size_t worker)>;
  void parallel_for(std::size_t count, const Body& body);

 private:
  void stop();
  void work(std::size_t worker);
  void drain(std::size_t worker);

  std::mutex mutex_;
  std::condition_variable start_;
  std::condition_variable finish_;
  const Body* body_ = nullptr;  // of the loop under way
  std::size_t count_ = 0;
  std::size_t next_ = 0;
  std::size_t busy_ = 0;
  std::size_t generation_ = 0;
  bool stopping_ = false;
  std::size_t failed_index_ = 0;
  std::exception_ptr failure_;
  std::vector<std::thread> workers_;
};

// How many threads this process may run at once (its CPU affinity, not the machine's size).
std::size_t available_threads();

}  // namespace dfrost
