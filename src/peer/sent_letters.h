// The letters of a site's last rounds, kept on disk beside its checkpoint: a process that starts again sends
// them again, so that a neighbour that had not got them yet misses nothing. One file per round, as a line of
// JSON (phases, receivers, lengths) and the letters' bytes. Those of round 0, in which a method is prepared,
// stay for good: whoever comes late needs them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "network/exchange.h"

namespace dfrost {

class SentLetters {
 public:
  void note(Moment moment, ClientId peer, SharedBytes letter) {
    letters_.push_back({moment, peer, std::move(letter)});
  }
  void clear() { letters_.clear(); }
  bool empty() const { return letters_.empty(); }
  // Those noted, as of that round; the files of all but the last `kept` rounds go.
  void save(const std::filesystem::path& folder, std::uint64_t round, std::uint64_t kept) const;

 private:
  struct Sent {
    Moment moment;
    ClientId peer = 0;
    SharedBytes letter;
  };
  std::vector<Sent> letters_;
};

// Notes on disk, before the first letter of a round leaves, that it may have: after a stop that round must be
// finished, since others may have merged what came of it. 0: none.
void note_speaking(const std::filesystem::path& folder, std::uint64_t round);
std::uint64_t last_spoken_round(const std::filesystem::path& folder);

// The round of the oldest that are kept, at most `done` + 1.
std::uint64_t first_kept_round(const std::filesystem::path& folder, std::uint64_t done);

// Sends what is kept of rounds up to `done` once more, in their order. A file that cannot be read is passed
// over: its letters are missing where they had not arrived.
void send_again(const std::filesystem::path& folder, std::uint64_t done, Exchange& exchange);

}  // namespace dfrost
