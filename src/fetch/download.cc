#include "fetch/download.h"

#include <fmt/format.h>

#include <optional>

#include "base/file.h"
#include "dfrost/error.h"
#include "fetch/http_get.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

fs::path recorded_digest_file(const fs::path& path) { return path.string() + ".sha256"; }

// The published digest, or the one recorded when the file was first fetched.
ExpectedDigest known_digest(const RemoteFile& file, const fs::path& path) {
  if (!file.digest.empty() || !fs::exists(recorded_digest_file(path))) return file.digest;
  return {DigestKind::sha256, read_text_file(recorded_digest_file(path), 4096).substr(0, kSha256Digits)};
}

// Whatever ends the attempt, a file that must not stay does not stay.
class PartFile {
 public:
  explicit PartFile(fs::path path) : path_(std::move(path)) {}
  ~PartFile() {
    std::error_code ignored;
    if (!keep_) fs::remove(path_, ignored);
  }
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;
  const fs::path& path() const { return path_; }
  bool has_bytes() const {
    std::error_code error;
    return fs::file_size(path_, error) > 0 && !error;
  }
  void keep_unless_empty() { keep_ = has_bytes(); }
  void drop() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }

 private:
  fs::path path_;
  bool keep_ = false;
};

Error wrong_content(const RemoteFile& file, const std::string& address, const ExpectedDigest& expected,
                    const std::string& found) {
  return Error(
             ErrorCode::data_loss,
             fmt::format("{} from {} is not what it should be: its {} is {}, expected {}", file.name, address,
                         expected.kind == DigestKind::sha256 ? "SHA-256" : "MD5", found, expected.hex),
             "nothing was kept; try again later or get the file from elsewhere")
      .at(address);
}

Error no_checksum(const RemoteFile& file) {
  return Error(
      ErrorCode::failed_precondition,
      fmt::format("no checksum of {} was ever published, so its content cannot be verified", file.name),
      "add --allow-unverified to take it on trust; its SHA-256 will be recorded");
}

struct Address {
  std::string text;
  bool official = false;  // its authors', not a mirror that somebody named
};

std::vector<Address> addresses_of(const RemoteFile& file, const std::vector<std::string>& mirrors) {
  std::vector<Address> addresses;
  for (const auto& mirror : mirrors)
    addresses.push_back({mirror + (mirror.ends_with('/') ? "" : "/") + file.name, false});
  for (const auto& address : file.addresses) addresses.push_back({address, true});
  return addresses;
}

// Whether what this address states of its own content is worth something: not what a stranger's copy says of
// itself, nor what anybody on the way could have written.
bool may_vouch(const Address& address) {
  const bool in_private =
      address.text.starts_with("https://") || address.text.starts_with("http://127.0.0.1:");
  return address.official && in_private;
}

class Download {
 public:
  Download(const RemoteFile& file, const fs::path& folder, const DownloadOptions& options)
      : file_(file),
        options_(options),
        addresses_(addresses_of(file, options.mirrors)),
        path_(folder / file.name),
        part_(part_file(path_)),
        expected_(known_digest(file, path_)) {}

  Verified run() {
    if (fs::exists(path_) && matches(path_, expected_)) return Verified::already_there;
    for (const auto& address : addresses_) {
      if (const auto done = try_address(address)) return *done;
    }
    if (wrong_) throw *wrong_;
    if (unvouched_) throw no_checksum(file_);
    part_.keep_unless_empty();
    throw Error(ErrorCode::unavailable,
                fmt::format("cannot fetch {}: {}", file_.name, fmt::join(reasons_, "; ")),
                "run the same command again later: it continues where it was cut off")
        .at(addresses_.empty() ? file_.name : addresses_.front().text);
  }

 private:
  // Nothing if this address failed and the next may be tried.
  std::optional<Verified> try_address(const Address& address) {
    const bool continued = part_.has_bytes();
    if (!fetch(address)) return std::nullopt;
    if (auto done = finish(address.text)) return done;
    if (continued) {
      // What was continued may have been the beginning of another file: once more, from the first byte.
      part_.drop();
      if (fetch(address)) {
        if (auto done = finish(address.text)) return done;
      }
    }
    part_.drop();
    return std::nullopt;
  }

  // True once the whole answer is in the part file.
  bool fetch(const Address& from) {
    const std::string& address = from.text;
    for (int attempt = 0; attempt < options_.attempts; ++attempt) {
      HttpRequest request{.address = address,
                          .file = part_.path(),
                          .connect_timeout_seconds = options_.connect_timeout_seconds,
                          .stall_timeout_seconds = options_.stall_timeout_seconds};
      request.accept = [&](const std::string& stated) {
        return options_.allow_unverified || !expected_.empty() || (!stated.empty() && may_vouch(from));
      };
      request.progress = [&](std::size_t done, std::size_t total) {
        if (options_.progress) options_.progress({file_.name, address, done, total});
      };
      const HttpResult result = http_get(request);
      stated_sha256_ = may_vouch(from) ? result.stated_sha256 : "";
      if (result.outcome == HttpOutcome::complete) return true;
      if (result.outcome == HttpOutcome::declined) {
        unvouched_ = true;  // the next address may have what this one has not
        break;
      }
      if (result.outcome == HttpOutcome::refused || attempt + 1 == options_.attempts) {
        reasons_.push_back(fmt::format("{} ({})", address, result.reason));
        break;
      }
    }
    return false;
  }

  // Moves the part into place if it is right; remembers what was wrong if it is not.
  std::optional<Verified> finish(const std::string& address) {
    ExpectedDigest expected = expected_;
    Verified how = Verified::published;
    if (expected.empty() && !stated_sha256_.empty()) {
      expected = {DigestKind::sha256, stated_sha256_};
      how = Verified::stated_by_host;
    }
    if (expected.empty()) how = Verified::recorded_only;
    const std::string found = file_digest(part_.path(), expected.kind);
    if (!found.starts_with(expected.hex)) {
      wrong_ = wrong_content(file_, address, expected, found);
      return std::nullopt;
    }
    rename_file(part_.path(), path_);
    if (how == Verified::recorded_only) {
      write_file_atomically(recorded_digest_file(path_), fmt::format("{}  {}\n", found, file_.name));
    }
    return how;
  }

  const RemoteFile& file_;
  const DownloadOptions& options_;
  std::vector<Address> addresses_;
  fs::path path_;
  PartFile part_;
  ExpectedDigest expected_;
  std::string stated_sha256_;
  std::vector<std::string> reasons_;
  bool unvouched_ = false;  // an address has the file, and nothing says that it is the right one
  std::optional<Error> wrong_;
};

}  // namespace

fs::path part_file(const fs::path& path) { return path.string() + ".part"; }

Verified download_file(const RemoteFile& file, const fs::path& folder, const DownloadOptions& options,
                       const FolderLock&) {
  return Download(file, folder, options).run();
}

}  // namespace dfrost
