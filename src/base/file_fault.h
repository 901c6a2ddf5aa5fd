// A seam for tests: who installs a fault is asked before every change that base/file makes to a disk, and can
// let it fail, or have the process die there as far as its files can tell. Nothing but a test installs one;
// without one nothing is asked. Not for several threads at once.
#pragma once

#include <filesystem>
#include <functional>

namespace dfrost {

enum class FileChange { create, write, flush, rename, remove, cut };

// What becomes of a change. Of a write that does not happen, the first half does: the worst of both.
struct FileVerdict {
  enum class Kind { happens, skipped, fails, dies };
  Kind kind = Kind::happens;
  int error = 0;  // of one that fails: an errno
};

using FileFault = std::function<FileVerdict(FileChange, const std::filesystem::path&)>;

// Thrown where the process is to die: no std::exception, so that nobody takes it for an error to deal with.
struct DiedInTest {};

class ScopedFileFault {
 public:
  explicit ScopedFileFault(FileFault fault);
  ~ScopedFileFault();
  ScopedFileFault(const ScopedFileFault&) = delete;
  ScopedFileFault& operator=(const ScopedFileFault&) = delete;
};

// For base/file alone. True: do it. False: pretend that it was done. Or throws DiedInTest, or sets `error`.
bool change_happens(FileChange change, const std::filesystem::path& path, int& error);

}  // namespace dfrost
