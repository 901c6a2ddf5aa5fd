#include "run/checkpoint_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/content_hash.h"
#include "base/safetensors.h"
#include "dfrost/error.h"
#include "run/record_json.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kKept = 2;

std::string checksum_of(std::span<const std::byte> values, const std::string& fingerprint,
                        const std::string& totals) {
  ContentHash hash;
  hash.add(values);
  hash.add(std::span(fingerprint));
  hash.add(std::span(totals));
  return hash.hex();
}

// The checkpoints of a folder, newest first. None where there is no folder; but a folder that cannot be
// listed is an error, since "none" would let a run start over.
std::vector<fs::path> checkpoints_in(const fs::path& folder) {
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

RunCheckpoint read_checkpoint(const fs::path& path) {
  const SafetensorsFile file(path);
  const auto text = [&](const char* key) {
    const auto found = file.content().metadata.find(key);
    if (found == file.content().metadata.end()) {
      throw Error(ErrorCode::data_loss, fmt::format("the checkpoint says nothing of its {}", key))
          .at(path.string());
    }
    return found->second;
  };
  RunCheckpoint checkpoint;
  const auto& values = file.content().at("values");
  if (checksum_of(values.bytes, text("fingerprint"), text("totals")) != text("checksum")) {
    throw Error(ErrorCode::data_loss, "the checkpoint's checksum does not fit its content").at(path.string());
  }
  checkpoint.values = read_floats(values, "values");
  checkpoint.fingerprint = text("fingerprint");
  try {
    checkpoint.totals = totals_from_json(nlohmann::ordered_json::parse(text("totals")));
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorCode::data_loss, "the checkpoint's totals cannot be read").at(path.string());
  }
  checkpoint.round = checkpoint.totals.rounds;
  return checkpoint;
}

}  // namespace

void write_checkpoint(const fs::path& folder, const RunCheckpoint& checkpoint) {
  fs::create_directories(folder);
  const FloatTensor values{"values", {checkpoint.values.size()}, checkpoint.values};
  const std::string totals = to_json(checkpoint.totals).dump();
  write_safetensors(folder / fmt::format("round-{:06}.safetensors", checkpoint.round), std::span(&values, 1),
                    {{"checksum", checksum_of(std::as_bytes(values.values), checkpoint.fingerprint, totals)},
                     {"fingerprint", checkpoint.fingerprint},
                     {"totals", totals}});
  const auto files = checkpoints_in(folder);
  std::error_code ignored;
  for (std::size_t i = kKept; i < files.size(); ++i) fs::remove(files[i], ignored);
}

FoundCheckpoint newest_checkpoint(const fs::path& folder) {
  FoundCheckpoint found;
  for (const auto& path : checkpoints_in(folder)) {
    try {
      found.checkpoint = read_checkpoint(path);
      return found;
    } catch (const Error& error) {
      found.damaged.push_back(fmt::format("{}: {}", path.string(), error.what()));
    }
  }
  return found;
}

}  // namespace dfrost
