// Whether what a site has is what its federation learns from: the classes of its own pictures, and the frozen
// model.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "backbone/checkpoint.h"
#include "federation/site.h"

namespace dfrost {

struct ClassMatch {
  std::vector<int> labels;           // of the folder's classes, in their order: indices into the federation's
  std::vector<std::string> missing;  // the federation's classes that it has not: no harm
};

// `classes` are a folder's, `all` the federation's ("domain/class"). With `domain` empty a class may be of
// any domain, as long as only one has it. Throws (failed_precondition) where some are unknown, with both
// lists.
ClassMatch match_classes(const std::vector<std::string>& classes, const std::vector<std::string>& all,
                         const std::string& domain);

// Where the site has the federation's frozen model: by peer.toml, else by the experiment's name for it.
// Throws (not_found) where it is not there.
std::filesystem::path find_site_backbone(const Site& site);

// Opens it. Throws (failed_precondition) where its weights are not the federation's, or where this machine
// cannot compute in the experiment's precision. Reads the whole model once.
std::unique_ptr<Checkpoint> site_backbone(const Site& site);

}  // namespace dfrost
