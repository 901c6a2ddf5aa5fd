// The proof that the network did what the algorithm says: the rounds of all sites once more in one process,
// each with the letters that its site recorded (arrivals.jsonl), must end in the very states that the sites
// have. Sites whose processors differ compute the last bits differently; that is said and not compared.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "federation/site.h"
#include "run/run_notes.h"

namespace dfrost {

struct ReplayedSite {
  std::filesystem::path folder;
  std::string name;
  ClientId number = 0;
  std::uint64_t rounds = 0;   // up to which it was replayed
  std::uint64_t trained = 0;  // rounds in which it took part
  std::uint64_t missed = 0;   // letters that it did not get
  std::uint64_t jumps = 0, adoptions = 0;
  bool same = false;
  std::string problem = {};  // why it is not the same; empty: it is
};

struct Replay {
  std::vector<ReplayedSite> sites;
  std::vector<std::string> processors;  // that the sites and this machine have; more than one: not comparable
  bool comparable() const { return processors.size() == 1; }
  bool same() const;
};

// Throws where the folders are not those of one federation, or one whose letters others received is missing.
Replay replay_sites(const std::vector<std::filesystem::path>& folders, RunNotes& notes);

}  // namespace dfrost
