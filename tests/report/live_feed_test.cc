#include "report/live_feed.h"

#include <gtest/gtest.h>

#include <thread>

#include "report/run_folders.h"
#include "report/watch_server.h"
#include "support/support.h"

namespace dfrost {
namespace {

using std::chrono::milliseconds;

// All that a listener is told until nothing more comes.
std::vector<Json> events_after(LiveFeed& feed, std::uint64_t& next) {
  std::vector<Json> events;
  while (true) {
    const auto event = feed.wait(next, milliseconds(0));
    next = event.next;
    if (!event.json) return events;
    events.push_back(Json::parse(*event.json));
  }
}

TEST(LiveFeed, TellsTheWholeFirstAndThenWhatIsNew) {
  const test::TemporaryFolder folder;
  const auto run = folder / "run";
  LiveFeed feed(run);
  std::uint64_t next = 0;
  auto events = events_after(feed, next);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0]["replace"]["live"], true);
  EXPECT_EQ(events[0]["replace"]["runs"][0]["problems"][0], "waiting for the run run to start");

  test::make_run(run);
  feed.poll();
  feed.poll();  // nothing new, no event
  events = events_after(feed, next);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0]["replace"]["runs"][0]["rounds"].size(), 2u);

  for (std::size_t round = 3; round <= 4; ++round) {
    test::append_text(run / "merges.jsonl", test::sample_merge(round).dump() + "\n");
    test::append_text(run / "metrics.jsonl", test::sample_round(round).dump() + "\n");
    feed.poll();
  }
  events = events_after(feed, next);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1]["append"]["run"], 0);
  EXPECT_EQ(events[1]["append"]["rounds"], Json::array({test::sample_round(4)}));
  EXPECT_EQ(events[1]["append"]["merges"], Json::array({test::sample_merge(4)}));
  EXPECT_EQ(events[1]["append"]["groups"].size(), 1u);

  std::uint64_t late = 0;  // who comes now is told all at once
  events = events_after(feed, late);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0]["replace"]["runs"][0]["rounds"].size(), 4u);
  EXPECT_EQ(late, next);
}

TEST(LiveFeed, GivesTheWholeToAListenerThatFellBehind) {
  const test::TemporaryFolder folder;
  const auto run = folder / "run";
  test::make_run(run);
  LiveFeed feed(run);
  std::uint64_t next = 0;
  events_after(feed, next);
  for (std::size_t round = 3; round < 203; ++round) {
    test::append_text(run / "metrics.jsonl", test::sample_round(round).dump() + "\n");
    feed.poll();
  }
  const auto events = events_after(feed, next);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0]["replace"]["runs"][0]["rounds"].size(), 202u);
}

TEST(LiveFeed, WakesWhoWaitsWhenItCloses) {
  const test::TemporaryFolder folder;
  LiveFeed feed(folder / "run");
  std::uint64_t next = 0;
  events_after(feed, next);
  bool closed = false;
  std::thread listener([&] { closed = feed.wait(next, std::chrono::hours(1)).closed; });
  feed.close();
  listener.join();
  EXPECT_TRUE(closed);
}

TEST(WatchServer, AnswersToItsOwnNamesAlone) {
  for (const char* own :
       {"localhost", "localhost:8765", "127.0.0.1:1", "[::1]:8765", "192.168.1.7", "box:80"}) {
    EXPECT_TRUE(is_own_host(own, "box")) << own;
  }
  for (const char* other : {"", "evil.example", "evil.example:8765", "localhost.evil.example",
                            "127.0.0.1.evil.example", "[::1", "boxy", "[evil.example]"}) {
    EXPECT_FALSE(is_own_host(other, "box")) << other;
  }
}

TEST(WatchServer, SaysWhenItCannotListen) {
  const test::TemporaryFolder folder;
  const WatchServer first(folder.path(), {.port = 0});
  test::expect_error(ErrorCode::unavailable, "is in use",
                     [&] { WatchServer(folder.path(), {.port = first.port()}); });
  test::expect_error(ErrorCode::unavailable, "cannot listen",
                     [&] { WatchServer(folder.path(), {.host = "192.0.2.1", .port = 0}); });
}

}  // namespace
}  // namespace dfrost
