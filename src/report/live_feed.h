// A run under way, told to whoever listens: one thread polls the run's folder, any number of threads wait for
// events. An event is a JSON document (docs/reference/report-data.md): the whole report at first and whenever
// more than an end was added, otherwise just what is new. A listener that fell far behind gets the whole
// again.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include "report/run_reader.h"

namespace dfrost {

class LiveFeed {
 public:
  // The folder need not be there yet.
  explicit LiveFeed(const std::filesystem::path& folder);

  void poll();   // one thread at a time
  void close();  // every wait ends, now and later

  struct Event {
    std::shared_ptr<const std::string> json;  // null: none came in time
    std::uint64_t next = 0;                   // what to wait for then
    bool closed = false;
  };
  // `next`: 0 at first, then what the last event said.
  Event wait(std::uint64_t next, std::chrono::milliseconds timeout);

  // Made anew only once something has changed, and shared until then.
  std::shared_ptr<const std::string> page();      // the whole report, listening
  std::shared_ptr<const std::string> document();  // its data alone

 private:
  Json whole() const;
  std::shared_ptr<const std::string> replacement();

  std::mutex mutex_;
  std::condition_variable news_;
  RunReader reader_;
  std::deque<std::shared_ptr<const std::string>> events_;  // the latest
  std::uint64_t end_ = 1;                                  // the number of the next event
  // The whole as of end_: as an event, as a page, alone; null until asked for.
  std::shared_ptr<const std::string> replacement_, page_, document_;
  bool behind_ = false;  // an event could not be made: the next is the whole again
  bool closed_ = false;
};

}  // namespace dfrost
