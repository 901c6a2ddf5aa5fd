// A fixed set of threads that share the indices of a loop. Which thread runs which index is not fixed, so a
// body must write only what belongs to its index; then results do not depend on the number of threads, as
// those of dfrost never do.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace dfrost {

class ThreadPool {
 public:
  // 0: as many as this process may use. The calling thread is one of them: ThreadPool(1) starts none. Throws
  // (resource_exhausted) where the system gives no more threads.
  explicit ThreadPool(std::size_t threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  std::size_t size() const;

  // Calls body(index, worker) for every index in [0, count), worker in [0, size()), and returns when all are
  // done. The exception of the lowest failing index is thrown again here; later indices may then not have
  // run. One loop at a time; a body must not start another on the same pool.
  using Body = std::function<void(std::size_t index, std::size_t worker)>;
  void parallel_for(std::size_t count, const Body& body);

 private:
  class Team;
  std::unique_ptr<Team> team_;
};

}  // namespace dfrost
