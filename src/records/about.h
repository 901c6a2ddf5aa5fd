// about.json: what a run is: where it came from, what it runs on, and who holds what. Written when it starts
// and when it goes on, each time by the command that makes all of it. docs/reference/records.md has every
// field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "data/corpus.h"
#include "dfrost/backbone.h"
#include "partition/partition.h"

namespace dfrost {

// What one of several processes that run a federation together does of it.
struct RankShare {
  std::string host;
  std::size_t threads = 1;
  std::vector<std::size_t> clients;  // that live there
  std::uint64_t work = 0;            // theirs in a round: pictures × epochs
};

// Who takes part in a run, with what.
struct Participants {
  const Corpus& corpus;
  const Partition& partition;
  std::vector<std::size_t> prompts;  // that each client holds
  std::size_t threads = 1;
  std::vector<RankShare> ranks = {};  // of a cluster; empty: one process does it all
  std::vector<bool> hostile = {};     // clients, where there are any
};

// `family`: whose names the checkpoint's tensors have. `command`: what the user typed, empty where unknown.
nlohmann::ordered_json about_json(const RunConfig& config, const Participants& participants,
                                  const Backbone& backbone, std::string_view family,
                                  const std::string& command);

// Makes `about` that of a run which goes on after a round: it keeps the start that `before`, the text of its
// about.json until now, tells of, and lists the resumption.
void continue_about(std::string_view before, std::size_t after_round, nlohmann::ordered_json& about);

// Of a domain's test pictures and their classes: two runs with the same one are scored on the same.
std::string test_fingerprint(const Corpus& corpus, const Domain& domain);

// Throws (failed_precondition) where a domain's test pictures are others than `about`, the text of a run's
// about.json, tells of: the run may have been trained on some of them. What it does not tell is not checked.
void require_same_test_pictures(std::string_view about, const Corpus& corpus);

}  // namespace dfrost
