// RUN|ADAPTER as people give it: the folder of a run, its adapter folder, or one adapter file; and the
// backbone that goes with it.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapter/adapter_file.h"
#include "backbone/checkpoint.h"
#include "config/config.h"

namespace dfrost::cli {

struct AdapterArgument {
  std::filesystem::path file;                       // the adapter, or the network model of a run
  std::vector<std::filesystem::path> clients = {};  // of a run, in their order
  std::optional<RunConfig> config = {};             // of the run that it lies in
  std::filesystem::path about = {};                 // its about.json, if there is one
};

// Throws (not_found) where there is no adapter, with the reason where the run has not come to its end.
AdapterArgument find_adapters(const std::string& run_or_adapter);

// The adapter of a file; says on stderr where nothing shows whether it is damaged.
StoredAdapter read_adapter_of(const std::filesystem::path& file);

// `given` by --backbone, else what the run was trained on; throws (invalid_argument) where neither is known.
std::filesystem::path find_backbone_of(const AdapterArgument& argument, const AdapterCard& card,
                                       const std::string& given);

// Opens that backbone as the card asks for it, and says on stderr what is doubtful about it.
std::unique_ptr<Checkpoint> open_backbone_of(const AdapterArgument& argument, const AdapterCard& card,
                                             const std::string& given);

}  // namespace dfrost::cli
