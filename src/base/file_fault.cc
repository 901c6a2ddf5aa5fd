#include "base/file_fault.h"

#include <utility>

namespace dfrost {
namespace {

FileFault installed;

}  // namespace

ScopedFileFault::ScopedFileFault(FileFault fault) { installed = std::move(fault); }
ScopedFileFault::~ScopedFileFault() { installed = nullptr; }

bool change_happens(FileChange change, const std::filesystem::path& path, int& error) {
  error = 0;
  if (!installed) return true;
  const FileVerdict verdict = installed(change, path);
  if (verdict.kind == FileVerdict::Kind::dies) throw DiedInTest{};
  if (verdict.kind == FileVerdict::Kind::fails) error = verdict.error;
  return verdict.kind == FileVerdict::Kind::happens;
}

}  // namespace dfrost
