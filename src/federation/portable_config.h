// An experiment as it may leave the founder's machine: without paths of that machine, with what "auto" stood
// for there. The settings that decide a run's values are the same, and so is its run id.
#pragma once

#include <filesystem>
#include <string>

#include "config/config.h"

namespace dfrost {

// A backbone by path becomes a name, pictures by path their domain's name; data.root and run.threads are left
// to each site; the precision is the one that this machine would take. Throws (invalid_argument) where a key
// needs a file that would have to travel (partition.file, network.file), or a domain's name is no name of a
// folder.
RunConfig portable_config(RunConfig config);

// Throws (failed_precondition) where the text of an experiment has a path that portable_config() would not
// leave in it.
void check_portable(const std::string& experiment);

}  // namespace dfrost
