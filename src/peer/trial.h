// A federation to try out: so many sites in one folder of this machine, each with a key and a port of its own
// on loopback, all members of one signed file. What is then started in them is what sites far apart start.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "config/config.h"

namespace dfrost {

struct TrialOptions {
  std::size_t sites = 0;         // 0: as many as the experiment has clients
  std::filesystem::path folder;  // is made
  double heartbeat_seconds = 1;
  std::size_t quorum = 0;  // 0: all
};

struct Trial {
  RunConfig config;  // as the sites have it
  std::filesystem::path federation;
  std::vector<std::filesystem::path> sites;  // by number
  std::vector<std::string> changes;          // what had to be changed for so many sites, in words
};

// The experiment for so many clients: domains share them evenly, and nobody has more neighbours than there
// are others. Throws (invalid_argument) where they cannot be shared evenly.
RunConfig with_clients(RunConfig config, std::size_t clients, std::vector<std::string>& changes);

// `config`: with the path of its backbone. Throws (already_exists) where the folder is there and not empty.
Trial make_trial(const RunConfig& config, const TrialOptions& options);

}  // namespace dfrost
