#include "report/live_feed.h"

#include <fmt/format.h>

#include <utility>

#include "report/document.h"
#include "report/groups.h"

namespace dfrost {
namespace {

constexpr std::size_t kEventsKept = 64;

template <typename List>
Json last(const List& list, std::size_t count) {
  return Json(std::vector<Json>(list.end() - static_cast<std::ptrdiff_t>(count), list.end()));
}

Json addition(const RunRecords& run, const RunReader::Changes& changes) {
  Json groups = Json::array();
  for (const auto& group : group_runs(std::span(&run, 1))) groups.push_back(to_json(group));
  return {{"append",
           {{"run", 0},
            {"rounds", last(run.rounds, changes.rounds)},
            {"merges", last(run.merges, changes.merges)},
            {"summary", run.summary},
            {"peer", run.peer},
            {"groups", groups}}}};
}

}  // namespace

LiveFeed::LiveFeed(const std::filesystem::path& folder) : reader_(run_folder_of(folder)) { reader_.poll(); }

Json LiveFeed::whole() const {
  RunRecords run = reader_.records();
  if (!reader_.is_run()) run.problems = {fmt::format("waiting for the run {} to start", run.folder)};
  return report_document(std::span(&run, 1), {.live = true});
}

std::shared_ptr<const std::string> LiveFeed::replacement() {
  if (!replacement_) {
    replacement_ = std::make_shared<const std::string>(script_safe(Json{{"replace", whole()}}));
  }
  return replacement_;
}

void LiveFeed::poll() {
  const std::lock_guard lock(mutex_);
  const auto changes = reader_.poll();
  if (!changes.any() && !behind_) return;
  const bool all = std::exchange(behind_, true) || changes.replaced;
  replacement_.reset();
  page_.reset();
  document_.reset();
  events_.push_back(
      all ? replacement()
          : std::make_shared<const std::string>(script_safe(addition(reader_.records(), changes))));
  if (events_.size() > kEventsKept) events_.pop_front();
  ++end_;
  behind_ = false;
  news_.notify_all();
}

void LiveFeed::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  news_.notify_all();
}

LiveFeed::Event LiveFeed::wait(std::uint64_t next, std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  news_.wait_for(lock, timeout, [&] { return closed_ || next != end_; });
  if (closed_) return {nullptr, next, true};
  if (next == end_) return {nullptr, next, false};
  if (next == 0 || end_ - next > events_.size()) return {replacement(), end_, false};
  return {events_[events_.size() - static_cast<std::size_t>(end_ - next)], next + 1, false};
}

std::shared_ptr<const std::string> LiveFeed::page() {
  const std::lock_guard lock(mutex_);
  if (!page_) page_ = std::make_shared<const std::string>(report_page(whole()));
  return page_;
}

std::shared_ptr<const std::string> LiveFeed::document() {
  const std::lock_guard lock(mutex_);
  if (!document_) document_ = std::make_shared<const std::string>(script_safe(whole()));
  return document_;
}

}  // namespace dfrost
