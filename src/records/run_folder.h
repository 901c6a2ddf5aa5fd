// The files that a run leaves in its folder, for those who use them later.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "dfrost/run.h"

namespace dfrost {

inline constexpr const char* kNetworkAdapter = "network.safetensors";

// client-000.safetensors, … of an adapter folder, in the order of the clients.
std::vector<std::filesystem::path> client_adapter_files(const std::filesystem::path& folder);

// From summary.json. Throws (data_loss) where it is not one.
RunSummary read_summary(const std::filesystem::path& folder);

}  // namespace dfrost
