// Fetches one file over HTTP(S) into a folder: from the first address that works, continued where an earlier
// attempt was cut off, kept only if its content is what it should be. While it is under way the file is
// called NAME.part; the name itself appears when everything is right, never before.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/file.h"
#include "fetch/digest.h"

namespace dfrost {

struct RemoteFile {
  std::string name;
  std::vector<std::string> addresses;  // the same bytes at each
  ExpectedDigest digest = {};          // empty: none was published
};

struct DownloadProgress {
  std::string name;
  std::string address;
  std::size_t done_bytes = 0;
  std::size_t total_bytes = 0;  // 0: the server did not say
};

struct DownloadOptions {
  // Take a file for which neither its authors nor its host state a checksum. Its SHA-256 is then written to
  // NAME.sha256 and expected from then on.
  bool allow_unverified = false;
  // Addresses of folders that are asked for NAME before its own addresses are: a site's mirror, say. What
  // they give must have the same checksum; one that they state themselves proves nothing.
  std::vector<std::string> mirrors = {};
  std::function<void(const DownloadProgress&)> progress = {};
  int attempts = 3;  // per address, each continuing where the last was cut off
  long connect_timeout_seconds = 20;
  long stall_timeout_seconds = 60;  // without a single byte
};

enum class Verified {
  already_there,   // nothing was fetched
  published,       // against the checksum that its authors published
  stated_by_host,  // against the checksum in the answer of its authors' own host (X-Linked-ETag)
  recorded_only,   // none: its SHA-256 was recorded
};

// Errors: unavailable (no address works, with the reason of each), data_loss (wrong content; nothing is left
// behind), failed_precondition (no checksum and not allowed), resource_exhausted (disk full; nothing is
// left).
// The lock is on `folder`, and shows that nobody else adds to the same NAME.part.
Verified download_file(const RemoteFile& file, const std::filesystem::path& folder,
                       const DownloadOptions& options, const FolderLock& lock);

// NAME.part.
std::filesystem::path part_file(const std::filesystem::path& path);

}  // namespace dfrost
