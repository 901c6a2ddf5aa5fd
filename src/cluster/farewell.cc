// How a job ends that did not come to its end by itself.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "cluster/cluster.h"

namespace dfrost {
namespace {

// The round of the newest checkpoint, by its name alone: there is a second, and no time to read it.
std::size_t newest_saved_round(const std::filesystem::path& folder) {
  constexpr std::string_view kPrefix = "round-";
  std::size_t newest = 0;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "checkpoints", none)) {
    const std::string name = entry.path().stem().string();
    std::size_t round = 0;
    if (!name.starts_with(kPrefix) || entry.path().extension() != ".safetensors") continue;
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), round);
    newest = std::max(newest, round);
  }
  return newest;
}

}  // namespace

void Cluster::can_save(const std::function<std::size_t()>& save) {
  const std::lock_guard lock(saving_);
  save_ = save;
}

// On this host: of others only the launcher knows, which says so itself.
std::vector<std::size_t> Cluster::lost_ranks() const {
  std::vector<std::size_t> lost;
  for (std::size_t rank = 0; rank < places_.size(); ++rank)
    if (places_[rank].host == places_[ranks_.rank()].host && !is_alive(places_[rank])) lost.push_back(rank);
  return lost;
}

// Rank 0 does where it is; where it was killed itself, the next that is there.
bool Cluster::speaks_for_host() const {
  const auto lost = lost_ranks();
  for (std::size_t rank = 0; rank < ranks_.rank(); ++rank)
    if (places_[rank].host == places_[ranks_.rank()].host && std::ranges::count(lost, rank) == 0)
      return false;
  return places_[ranks_.rank()].host == places_.front().host;
}

Error Cluster::farewell(const std::function<std::filesystem::path()>& folder) {
  const auto lost = lost_ranks();
  const std::lock_guard lock(saving_);
  const std::size_t saved = save_ ? save_() : newest_saved_round(folder());
  std::string what = "stopped";
  if (!lost.empty())
    what = fmt::format("lost rank{} {} on {}", lost.size() == 1 ? "" : "s", fmt::join(lost, ", "),
                       places_[ranks_.rank()].host);
  if (saved == 0) return {ErrorCode::cancelled, what + "; no round was saved yet", "start it again"};
  return {
      ErrorCode::cancelled, fmt::format("{}; the rounds up to {} are saved", what, saved),
      fmt::format("go on after round {} with the same command and --resume, on any number of ranks", saved)};
}

void Cluster::heed_signals(Lookout& lookout, std::function<std::filesystem::path()> folder,
                           std::function<void(const Error&)> tell) {
  lookout.start([this, folder = std::move(folder), tell = std::move(tell)] {
    // All ranks are told at about the same time: nobody leaves before the others have seen who was there.
    constexpr auto kLookAround = std::chrono::milliseconds(300);
    try {
      if (speaks_for_host()) tell(farewell(folder));
    } catch (const Error& error) {
      tell(error);
    }
    std::this_thread::sleep_for(kLookAround);
    ::_exit(1);
  });
}

}  // namespace dfrost
