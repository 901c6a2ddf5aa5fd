#include "records/run_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "base/file.h"
#include "base/json.h"
#include "config/config_access.h"
#include "dfrost/error.h"
#include "records/figure_table.h"
#include "records/record.h"
#include "records/record_json.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

// What stands at "evaluation.accuracy_masked.mean"; null is a number that is not finite.
std::optional<double> number_at(const nlohmann::json& json, std::string_view path) {
  const nlohmann::json* here = &json;
  while (!path.empty()) {
    const auto dot = std::min(path.find('.'), path.size());
    const auto found = here->is_object() ? here->find(std::string(path.substr(0, dot))) : here->end();
    if (found == here->end()) return std::nullopt;
    here = &*found;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  if (here->is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!here->is_number()) return std::nullopt;
  return here->get<double>();
}

Error not_ours(const fs::path& file, const std::string& why) {
  return Error(ErrorCode::data_loss, why, "docs/reference/records.md says what it should hold")
      .at(file.string());
}

void require_known_schema(const nlohmann::json& json, const fs::path& file) {
  const auto schema = number_at(json, "schema");
  if (!schema) throw not_ours(file, "this is no record of a run");
  if (*schema > kRecordSchema) {
    throw Error(ErrorCode::unimplemented, "the run was recorded by a newer dfrost",
                "take a newer one here too")
        .at(file.string());
  }
}

Round round_of(const nlohmann::json& json, const fs::path& file) {
  require_known_schema(json, file);
  const auto round = number_at(json, "round");
  if (!round) throw not_ours(file, "a line does not say of which round it is");
  Round read{.round = static_cast<std::size_t>(*round), .figures = {}};
  for (const auto& figure : figures()) {
    if (const auto value = number_at(json, figure.name)) read.figures.set(figure.name, *value);
  }
  return read;
}

std::vector<Round> read_rounds(const fs::path& file) {
  std::vector<Round> rounds;
  std::ifstream lines;
  if (fs::is_regular_file(file)) lines.open(file, std::ios::binary);  // a pipe would keep us waiting
  // A last line without its end is being written, or was cut short: getline() then meets the end of the file.
  for (std::string line; std::getline(lines, line) && !lines.eof();) {
    rounds.push_back(round_of(parse_json(line, file.string()), file));
  }
  if (!lines.is_open() || lines.bad()) throw not_ours(file, "the records of the rounds cannot be read");
  return rounds;
}

}  // namespace

std::vector<fs::path> client_adapter_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto name = entry.path().filename().string();
    if (name.starts_with("client-") && name.ends_with(".safetensors")) files.push_back(entry.path());
  }
  // client-1000 comes after client-999.
  std::ranges::sort(files, {}, [](const fs::path& p) { return std::pair(p.string().size(), p.string()); });
  return files;
}

RunSummary read_summary(const fs::path& folder) {
  const fs::path file = folder / "summary.json";
  const nlohmann::json json = read_json_file(file);
  require_known_schema(json, file);
  RunSummary summary;
  try {
    summary = {.folder = folder,
               .name = json.at("name").get<std::string>(),
               .method = json.at("method").get<std::string>(),
               .seed = json.at("seed").get<std::uint64_t>(),
               .rounds = json.at("rounds").get<std::size_t>(),
               .clients = json.at("clients").get<std::size_t>(),
               .figures = {}};
  } catch (const nlohmann::json::exception& error) {
    throw not_ours(file, error.what());
  }
  for (const auto& figure : figures()) {
    const auto path = summary_path(figure);
    const auto value = path.empty() ? std::nullopt : number_at(json, path);
    if (value) summary.figures.set(figure.name, *value);
  }
  return summary;
}

LoadedRun load_run(const fs::path& folder) {
  if (!fs::exists(folder / "config.toml")) {
    throw Error(ErrorCode::not_found, fmt::format("{} holds no run", folder.string()),
                "a run leaves its records in runs/NAME; give such a folder")
        .at(folder.string());
  }
  LoadedRun run{.folder = folder, .config = Config::load(folder / "config.toml")};
  if (fs::exists(folder / "metrics.jsonl")) run.rounds = read_rounds(folder / "metrics.jsonl");
  if (fs::exists(folder / "summary.json")) run.summary = read_summary(folder);
  if (fs::path adapters = folder / "adapter"; fs::is_directory(adapters)) {
    // A site of a federation has its own adapter alone.
    if (fs::exists(adapters / kNetworkAdapter)) run.network_adapter = adapters / kNetworkAdapter;
    run.client_adapters = client_adapter_files(adapters);
    // A run that was prolonged still has the adapters of its first end.
    run.finished = !run.client_adapters.empty() && run.summary &&
                   run.summary->rounds >= ConfigAccess::resolved(run.config).run.rounds;
  }
  return run;
}

}  // namespace dfrost
