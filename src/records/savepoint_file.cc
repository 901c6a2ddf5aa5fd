#include "records/savepoint_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/content_hash.h"
#include "base/file.h"
#include "base/json.h"
#include "base/safetensors.h"
#include "dfrost/error.h"
#include "records/record_json.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kKept = 2;

// Each client's steps, as the metadata has them; empty where optimizers keep nothing.
std::string steps_text(const SavedNodes& nodes) {
  return nodes.optimizer_steps.empty() ? "" : nlohmann::json(nodes.optimizer_steps).dump();
}

// The same of those with prompts at rest; empty where there were none.
std::string rests_text(const SavedNodes& nodes) {
  return nodes.optimizer_rests.empty() ? "" : nlohmann::json(nodes.optimizer_rests).dump();
}

Json tensors_json(const std::vector<SavedTensor>& tensors) {
  Json list = Json::array();
  for (const auto& [name, shape] : tensors) list.push_back({name, shape});
  return list;
}

std::string layouts_text(const SavedNodes& nodes) {
  Json list = Json::array();
  for (const auto& layout : nodes.layouts)
    list.push_back({{"nodes", layout.nodes},
                    {"state", tensors_json(layout.state)},
                    {"memory", tensors_json(layout.memory)}});
  return list.dump();
}

std::vector<SavedTensor> tensors_from(const Json& list) {
  std::vector<SavedTensor> tensors;
  for (const auto& one : list) tensors.push_back({one.at(0).get<std::string>(), one.at(1).get<Shape>()});
  return tensors;
}

std::vector<SavedLayout> layouts_from(const std::string& text) {
  std::vector<SavedLayout> layouts;
  for (const auto& one : parse_own_json(text))
    layouts.push_back(
        {one.at("nodes").get<std::size_t>(), tensors_from(one.at("state")), tensors_from(one.at("memory"))});
  return layouts;
}

std::string checksum_of(const Savepoint& savepoint, const std::string& totals) {
  const SavedNodes& nodes = savepoint.nodes;
  ContentHash hash;
  hash.add(std::span(nodes.values));
  hash.add(std::span(savepoint.fingerprint));
  hash.add(std::span(totals));
  const std::string layouts = layouts_text(nodes);
  hash.add(std::span(layouts));
  hash.add(std::span(nodes.memory));
  if (const std::string steps = steps_text(nodes); !steps.empty()) {
    hash.add(std::span(nodes.optimizer_values));
    hash.add(std::span(steps));
  }
  if (const std::string rests = rests_text(nodes); !rests.empty()) hash.add(std::span(rests));
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
  Savepoint savepoint;
  // The first format did not say so.
  const auto format = file.content().metadata.find("format");
  if (format == file.content().metadata.end() || format->second != std::to_string(kSavepointFormat)) {
    throw Error(ErrorCode::data_loss,
                "the checkpoint was written by another version of dfrost, which alone can go on from it")
        .at(path.string());
  }
  savepoint.fingerprint = text("fingerprint");
  savepoint.nodes.values = read_floats(file.content().at("values"), "values");
  try {
    savepoint.totals = totals_from_json(parse_own_json(text("totals")));
    savepoint.nodes.layouts = layouts_from(text("layouts"));
    if (file.content().contains("memory"))
      savepoint.nodes.memory = read_floats(file.content().at("memory"), "memory");
    if (file.content().contains("optimizer")) {
      savepoint.nodes.optimizer_values = read_floats(file.content().at("optimizer"), "optimizer");
      parse_own_json(text("optimizer_steps")).get_to(savepoint.nodes.optimizer_steps);
      if (file.content().metadata.contains("optimizer_rests"))
        parse_own_json(text("optimizer_rests")).get_to(savepoint.nodes.optimizer_rests);
    }
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorCode::data_loss, "the checkpoint's totals, layouts or steps cannot be read")
        .at(path.string());
  }
  if (checksum_of(savepoint, text("totals")) != text("checksum")) {
    throw Error(ErrorCode::data_loss, "the checkpoint's checksum does not fit its content").at(path.string());
  }
  savepoint.round = savepoint.totals.rounds;
  return savepoint;
}

}  // namespace

void write_savepoint(const fs::path& folder, const Savepoint& savepoint) {
  fs::create_directories(folder);
  const SavedNodes& nodes = savepoint.nodes;
  const std::string totals = to_json(savepoint.totals).dump();
  std::vector<FloatTensor> tensors = {{"values", {nodes.values.size()}, nodes.values}};
  if (!nodes.memory.empty()) tensors.push_back({"memory", {nodes.memory.size()}, nodes.memory});
  SafetensorsMetadata metadata = {{"format", std::to_string(kSavepointFormat)},
                                  {"layouts", layouts_text(nodes)},
                                  {"checksum", checksum_of(savepoint, totals)},
                                  {"fingerprint", savepoint.fingerprint},
                                  {"totals", totals}};
  if (std::string steps = steps_text(nodes); !steps.empty()) {
    tensors.push_back({"optimizer", {nodes.optimizer_values.size()}, nodes.optimizer_values});
    metadata.emplace("optimizer_steps", std::move(steps));
    if (std::string rests = rests_text(nodes); !rests.empty())
      metadata.emplace("optimizer_rests", std::move(rests));
  }
  write_safetensors(folder / fmt::format("round-{:06}.safetensors", savepoint.round), tensors, metadata);
  const auto files = savepoints_in(folder);
  try {
    for (std::size_t i = kKept; i < files.size(); ++i) remove_file(files[i]);
  } catch (const Error&) {  // one too many does no harm
  }
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
