#include "cli/adapter_argument.h"

#include <fmt/format.h>

#include "adapter/adapter_use.h"
#include "base/quote.h"
#include "cli/backbone_path.h"
#include "cli/command.h"
#include "config/toml_file.h"
#include "dfrost/error.h"
#include "records/run_folder.h"
#include "report/run_reader.h"

namespace dfrost::cli {
namespace {

namespace fs = std::filesystem;

// What the run whose adapter folder it is says of itself.
AdapterArgument with_run(AdapterArgument argument) {
  const auto run = fs::absolute(argument.file).parent_path().parent_path();
  if (const auto config = run / "config.toml"; fs::exists(config)) argument.config = load_config(config, {});
  if (const auto about = run / "about.json"; fs::exists(about)) argument.about = about;
  return argument;
}

}  // namespace

AdapterArgument find_adapters(const std::string& run_or_adapter) {
  fs::path path = run_or_adapter;
  if (path.filename().empty()) path = path.parent_path();  // a slash at the end
  if (!fs::exists(path)) {
    throw Error(ErrorCode::not_found, fmt::format("there is no {}", quote_name(run_or_adapter)),
                "give the folder of a run, runs/NAME, or a file of its adapter folder")
        .at(run_or_adapter);
  }
  if (!fs::is_directory(path)) return with_run({.file = path});
  path = run_folder_of(path);
  const fs::path folder = fs::exists(path / kNetworkAdapter) ? path : path / "adapter";
  if (fs::exists(folder / kNetworkAdapter))
    return with_run({.file = folder / kNetworkAdapter, .clients = client_adapter_files(folder)});
  // A site has its own, and no model of the whole network.
  if (fs::is_directory(folder))
    if (const auto own = client_adapter_files(folder); own.size() == 1)
      return with_run({.file = own.front()});
  throw Error(ErrorCode::not_found, fmt::format("{} holds no adapters", path.string()),
              fs::exists(path / "metrics.jsonl")
                  ? "they are written when the run ends: go on with it by --resume"
                  : "give the folder of a run, runs/NAME, or an adapter file")
      .at(folder.string());
}

StoredAdapter read_adapter_of(const fs::path& file) {
  auto adapter = read_adapter(file);
  if (!adapter.has_checksum) tell_warning(fmt::format("{}: {}", file.string(), kNoChecksum), kNoChecksumHint);
  return adapter;
}

fs::path find_backbone_of(const AdapterArgument& argument, const AdapterCard& card,
                          const std::string& given) {
  if (!given.empty()) return find_backbone(given);
  if (!argument.config) {
    throw Error(ErrorCode::invalid_argument, "an adapter alone does not say where its backbone lies",
                fmt::format("give it by --backbone; it was trained around {}", quote_name(card.backbone)))
        .at(argument.file.string());
  }
  fs::path path = find_backbone(argument.config->backbone.path.string());
  if (fs::exists(path)) return path;
  throw Error(ErrorCode::not_found, fmt::format("the backbone {} is no longer there", path.string()),
              "say by --backbone where it is now")
      .at(path.string());
}

std::unique_ptr<Checkpoint> open_backbone_of(const AdapterArgument& argument, const AdapterCard& card,
                                             const std::string& given) {
  auto checkpoint = dfrost::open_backbone_of(card, find_backbone_of(argument, card, given));
  const bool said = argument.config && argument.config->backbone.heads != 0;
  if (const auto doubt = doubt_about_heads(*checkpoint, said)) {
    // Prompts go with the heads that they were trained with: no option of this command could mend it.
    tell_warning("the adapter was trained around a backbone that is in doubt: " + doubt->what,
                 fmt::format("where {0} is right, a config.json beside the backbone says so: "
                             "{{\"num_attention_heads\": {0}}}; else train again with backbone.heads",
                             card.geometry.heads));
  }
  return checkpoint;
}

}  // namespace dfrost::cli
