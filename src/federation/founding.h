// An experiment and the files of its members → the first revision of a federation, not yet signed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "federation/federation_file.h"

namespace dfrost {

struct FoundingOptions {
  std::string name = {};                // empty: the experiment's run.name
  std::size_t quorum = 0;               // 0: all
  std::filesystem::path backbone = {};  // where the frozen model lies here
};

// Members get numbers in the order in which they stand. Reads the model once, and the pictures where they are
// here: then the deal to the clients is tried, too. Throws with what does not fit.
Federation found_federation(const RunConfig& config, const std::vector<MemberFile>& members,
                            const FoundingOptions& options, const PrivateKey& founder);

// "domain/class" in the order of the labels, of data sets that are here, else of known ones as published.
std::vector<std::string> class_list(const RunConfig& config);

}  // namespace dfrost
