#include "base/thread_pool.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "dfrost/error.h"

namespace dfrost {

std::size_t available_threads() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    return static_cast<std::size_t>(std::max(1, CPU_COUNT(&allowed)));
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

class ThreadPool::Team {
 public:
  explicit Team(std::size_t threads);
  ~Team() { stop(); }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  std::size_t size() const { return workers_.size() + 1; }
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

ThreadPool::ThreadPool(std::size_t threads) : team_(std::make_unique<Team>(threads)) {}
ThreadPool::~ThreadPool() = default;
std::size_t ThreadPool::size() const { return team_->size(); }
void ThreadPool::parallel_for(std::size_t count, const Body& body) { team_->parallel_for(count, body); }

ThreadPool::Team::Team(std::size_t threads) {
  if (threads == 0) threads = available_threads();
  try {
    for (std::size_t worker = 1; worker < threads; ++worker) {
      workers_.emplace_back([this, worker] { work(worker); });
    }
  } catch (const std::exception& error) {
    const std::size_t started = size();
    stop();  // a thread that runs may not outlive its object
    throw Error(ErrorCode::resource_exhausted,
                fmt::format("only {} of {} threads could be started: {}", started, threads, error.what()),
                "ask for fewer threads");
  }
}

void ThreadPool::Team::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  start_.notify_all();
  for (auto& worker : workers_) worker.join();
  workers_.clear();
}

void ThreadPool::Team::parallel_for(std::size_t count, const Body& body) {
  {
    const std::lock_guard lock(mutex_);
    body_ = &body;
    count_ = count;
    next_ = 0;
    failure_ = nullptr;
    failed_index_ = count;
    busy_ = workers_.size();
    ++generation_;
  }
  start_.notify_all();
  drain(0);
  std::unique_lock lock(mutex_);
  finish_.wait(lock, [this] { return busy_ == 0; });
  body_ = nullptr;
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadPool::Team::work(std::size_t worker) {
  std::size_t seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return stopping_ || generation_ != seen; });
      if (stopping_) return;
      seen = generation_;
    }
    drain(worker);
    const std::lock_guard lock(mutex_);
    if (--busy_ == 0) finish_.notify_one();
  }
}

void ThreadPool::Team::drain(std::size_t worker) {
  for (;;) {
    std::size_t index = 0;
    {
      const std::lock_guard lock(mutex_);
      if (next_ >= count_ || failure_) return;
      index = next_++;
    }
    try {
      (*body_)(index, worker);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_ || index < failed_index_) {
        failure_ = std::current_exception();
        failed_index_ = index;
      }
    }
  }
}

}  // namespace dfrost
