#include "records/savepoint_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/content_hash.h"
#include "base/safetensors.h"
#include "dfrost/error.h"
#include "records/record_json.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kKept = 2;

// Each client's steps, as the metadata has them; empty where optimizers keep nothing.
std::string steps_text(const FederationState& state) {
  return state.optimizer_steps.empty() ? "" : nlohmann::json(state.optimizer_steps).dump();
}

std::string checksum_of(const Savepoint& checkpoint, const std::string& totals) {
  const FederationState& state = checkpoint.state;
  ContentHash hash;
  hash.add(std::span(state.values));
  hash.add(std::span(checkpoint.fingerprint));
  hash.add(std::span(totals));
  if (const std::string steps = steps_text(state); !steps.empty()) {
    hash.add(std::span(state.optimizer_values));
    hash.add(std::span(steps));
  }
  return hash.hex();
}

// The checkpoints of a folder, newest first. None where there is no folder; but a folder that cannot be
// listed is an error, since "none" would let a run start over.
std::vector<fs::path> savepoints_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".safetensors") files.push_back(entry.path());
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    throw Error(ErrorCode::data_loss, fmt::format("the checkpoints cannot be listed: {}", error.message()))
        .at(folder.string());
  }
  // By number: round-1000000 comes after round-999999.
  std::ranges::sort(files, std::greater<>(),
                    [](const fs::path& p) { return std::pair(p.native().size(), p.native()); });
  return files;
}

Savepoint read_savepoint(const fs::path& path) {
  const SafetensorsFile file(path);
  const auto text = [&](const char* key) {
    const auto found = file.content().metadata.find(key);
    if (found == file.content().metadata.end()) {
      throw Error(ErrorCode::data_loss, fmt::format("the checkpoint says nothing of its {}", key))
          .at(path.string());
    }
    return found->second;
  };
  Savepoint checkpoint;
  checkpoint.fingerprint = text("fingerprint");
  checkpoint.state.values = read_floats(file.content().at("values"), "values");
  try {
    checkpoint.totals = totals_from_json(nlohmann::ordered_json::parse(text("totals")));
    if (file.content().contains("optimizer")) {
      checkpoint.state.optimizer_values = read_floats(file.content().at("optimizer"), "optimizer");
      nlohmann::json::parse(text("optimizer_steps")).get_to(checkpoint.state.optimizer_steps);
    }
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorCode::data_loss, "the checkpoint's totals or steps cannot be read").at(path.string());
  }
  if (checksum_of(checkpoint, text("totals")) != text("checksum")) {
    throw Error(ErrorCode::data_loss, "the checkpoint's checksum does not fit its content").at(path.string());
  }
  checkpoint.round = checkpoint.totals.rounds;
  return checkpoint;
}

}  // namespace

void write_savepoint(const fs::path& folder, const Savepoint& checkpoint) {
  fs::create_directories(folder);
  const FederationState& state = checkpoint.state;
  const std::string totals = to_json(checkpoint.totals).dump();
  std::vector<FloatTensor> tensors = {{"values", {state.values.size()}, state.values}};
  SafetensorsMetadata metadata = {{"checksum", checksum_of(checkpoint, totals)},
                                  {"fingerprint", checkpoint.fingerprint},
                                  {"totals", totals}};
  if (std::string steps = steps_text(state); !steps.empty()) {
    tensors.push_back({"optimizer", {state.optimizer_values.size()}, state.optimizer_values});
    metadata.emplace("optimizer_steps", std::move(steps));
  }
  write_safetensors(folder / fmt::format("round-{:06}.safetensors", checkpoint.round), tensors, metadata);
  const auto files = savepoints_in(folder);
  std::error_code ignored;
  for (std::size_t i = kKept; i < files.size(); ++i) fs::remove(files[i], ignored);
}

FoundSavepoint newest_savepoint(const fs::path& folder) {
  FoundSavepoint found;
  for (const auto& path : savepoints_in(folder)) {
    try {
      found.checkpoint = read_savepoint(path);
      return found;
    } catch (const Error& error) {
      found.damaged.push_back(fmt::format("{}: {}", path.string(), error.what()));
    }
  }
  return found;
}

}  // namespace dfrost
