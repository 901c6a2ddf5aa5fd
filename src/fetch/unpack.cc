#include "fetch/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "base/file.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlockBytes = 1u << 20;

using ReadHandle = std::unique_ptr<archive, decltype(&archive_read_free)>;
using WriteHandle = std::unique_ptr<archive, decltype(&archive_write_free)>;

[[noreturn]] void fail(const fs::path& archive_path, archive* handle) {
  const char* text = archive_error_string(handle);
  const bool full = archive_errno(handle) == ENOSPC;
  throw Error(
      full ? ErrorCode::resource_exhausted : ErrorCode::data_loss,
      fmt::format("cannot unpack {}: {}", archive_path.string(), text != nullptr ? text : "unknown error"))
      .at(archive_path.string());
}

ReadHandle open_archive(const fs::path& path) {
  ReadHandle reader(archive_read_new(), archive_read_free);
  archive_read_support_filter_all(reader.get());
  archive_read_support_format_tar(reader.get());
  if (archive_read_open_filename(reader.get(), path.c_str(), kBlockBytes) != ARCHIVE_OK)
    fail(path, reader.get());
  return reader;
}

// Where an entry goes, or nothing if it is not wanted.
std::optional<fs::path> target_of(archive_entry* entry, const fs::path& folder, const std::string& inside) {
  const auto type = archive_entry_filetype(entry);
  if (type != AE_IFREG || archive_entry_hardlink(entry) != nullptr) return std::nullopt;
  const char* name = archive_entry_pathname(entry);
  if (name == nullptr) return std::nullopt;
  const fs::path relative =
      fs::path(name).lexically_normal().lexically_relative(inside.empty() ? "." : inside);
  if (relative.empty() || relative.is_absolute() || *relative.begin() == "..") return std::nullopt;
  return folder / relative;
}

void copy_entry(archive* reader, archive* writer, const fs::path& archive_path) {
  const void* block = nullptr;
  std::size_t size = 0;
  la_int64_t offset = 0;
  for (;;) {
    const int status = archive_read_data_block(reader, &block, &size, &offset);
    if (status == ARCHIVE_EOF) return;
    if (status != ARCHIVE_OK) fail(archive_path, reader);
    if (archive_write_data_block(writer, block, size, offset) != ARCHIVE_OK) fail(archive_path, writer);
  }
}

void unpack_into(const fs::path& archive_path, const fs::path& folder, const std::string& inside) {
  const ReadHandle reader = open_archive(archive_path);
  const WriteHandle writer(archive_write_disk_new(), archive_write_free);
  archive_write_disk_set_options(writer.get(),
                                 ARCHIVE_EXTRACT_SECURE_NODOTDOT | ARCHIVE_EXTRACT_SECURE_SYMLINKS);
  archive_entry* entry = nullptr;
  for (;;) {
    const int status = archive_read_next_header(reader.get(), &entry);
    if (status == ARCHIVE_EOF) return;
    if (status != ARCHIVE_OK) fail(archive_path, reader.get());
    const auto target = target_of(entry, folder, inside);
    if (!target) continue;
    archive_entry_set_pathname(entry, target->c_str());
    archive_entry_set_perm(entry, 0644);
    if (archive_write_header(writer.get(), entry) != ARCHIVE_OK) fail(archive_path, writer.get());
    copy_entry(reader.get(), writer.get(), archive_path);
    if (archive_write_finish_entry(writer.get()) != ARCHIVE_OK) fail(archive_path, writer.get());
  }
}

// Moves every entry of `from` into `to`, replacing what has the same name.
void move_into(const fs::path& from, const fs::path& to) {
  for (const auto& entry : fs::directory_iterator(from)) {
    const fs::path target = to / entry.path().filename();
    fs::remove_all(target);
    fs::rename(entry.path(), target);
  }
}

}  // namespace

void unpack_archive(const fs::path& archive, const fs::path& folder, const std::string& inside) {
  fs::create_directories(folder);
  const WorkFolder work(folder, kUnpackingFolder);
  const fs::path& beside = work.path();
  unpack_into(archive, beside, inside);
  if (fs::is_empty(beside)) {
    throw Error(ErrorCode::data_loss, fmt::format("{} holds nothing below '{}'", archive.string(), inside))
        .at(archive.string());
  }
  move_into(beside, folder);
}

}  // namespace dfrost
