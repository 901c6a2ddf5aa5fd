#include "backbone/zip.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/byte_reader.h"
#include "base/malformed.h"
#include "base/quote.h"
#include "dfrost/error.h"

// Layouts from the .ZIP File Format Specification (APPNOTE) 6.3.10, sections 4.3.7, 4.3.12 and 4.3.14
// to 4.3.16.
namespace dfrost {
namespace {

constexpr std::uint32_t kLocalSignature = 0x04034b50;
constexpr std::uint32_t kEntrySignature = 0x02014b50;
constexpr std::uint32_t kEndSignature = 0x06054b50;
constexpr std::uint32_t kEnd64Signature = 0x06064b50;
constexpr std::uint32_t kEnd64LocatorSignature = 0x07064b50;
constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kEnd64LocatorBytes = 20;
constexpr std::uint32_t kSee64 = 0xffffffff;  // the number is in the zip64 field instead

struct Directory {
  std::uint64_t entries = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;
};

struct Entry {
  std::string name;
  std::uint64_t size = 0;
  std::uint64_t local_offset = 0;
};

std::span<const std::byte> slice(std::span<const std::byte> archive, std::uint64_t offset, std::uint64_t size,
                                 const std::string& what) {
  if (offset > archive.size() || size > archive.size() - offset) {
    malformed(fmt::format("{} ({} bytes at {}) lies outside the archive's {} bytes: the file is truncated",
                          what, size, offset, archive.size()));
  }
  return archive.subspan(offset, size);
}

// The end record is the archive's last thing but for a comment of at most 64 KiB, so it is looked for from
// the end.
std::size_t find_end_record(std::span<const std::byte> archive) {
  constexpr std::size_t kLongestComment = 0xffff;
  if (archive.size() >= kEndBytes) {
    const std::size_t last = archive.size() - kEndBytes;
    for (std::size_t comment = 0; comment <= std::min(last, kLongestComment); ++comment) {
      ByteReader record(archive.subspan(last - comment, kEndBytes), "the zip archive's end");
      if (record.number<std::uint32_t>() != kEndSignature) continue;
      record.take(16);
      if (record.number<std::uint16_t>() == comment) return last - comment;
    }
  }
  malformed("the zip archive has no directory at its end: the file is truncated, or not a zip archive");
}

Directory read_end64_record(std::span<const std::byte> archive, std::uint64_t offset) {
  constexpr std::size_t kEnd64Bytes = 56;
  ByteReader record(slice(archive, offset, kEnd64Bytes, "the zip64 end record"), "the zip64 end record");
  if (record.number<std::uint32_t>() != kEnd64Signature)
    malformed(fmt::format("no zip64 end record at byte {}", offset));
  record.take(8 + 2 + 2 + 4 + 4 + 8);  // its size, versions, disks, entries on this disk
  Directory directory;
  directory.entries = record.number<std::uint64_t>();
  directory.size = record.number<std::uint64_t>();
  directory.offset = record.number<std::uint64_t>();
  return directory;
}

Directory find_directory(std::span<const std::byte> archive) {
  const std::size_t end = find_end_record(archive);
  if (end >= kEnd64LocatorBytes) {
    ByteReader locator(archive.subspan(end - kEnd64LocatorBytes, kEnd64LocatorBytes), "the zip64 locator");
    if (locator.number<std::uint32_t>() == kEnd64LocatorSignature) {
      locator.take(4);  // the disk
      return read_end64_record(archive, locator.number<std::uint64_t>());
    }
  }
  ByteReader record(archive.subspan(end, kEndBytes), "the zip archive's end");
  record.take(4 + 2 + 2 + 2);  // signature, disks, entries on this disk
  Directory directory;
  directory.entries = record.number<std::uint16_t>();
  directory.size = record.number<std::uint32_t>();
  directory.offset = record.number<std::uint32_t>();
  return directory;
}

// The extra fields are a list of (id, size, content); id 1 holds the numbers that did not fit, in this order.
void read_zip64_numbers(std::span<const std::byte> extra, std::uint64_t& size, std::uint64_t& stored_size,
                        std::uint64_t& local_offset) {
  ByteReader fields(extra, "a zip entry's extra field");
  while (fields.remaining() >= 4) {
    const auto id = fields.number<std::uint16_t>();
    const auto content = fields.take(fields.number<std::uint16_t>());
    if (id != 1) continue;
    ByteReader numbers(content, "a zip64 extra field");
    for (std::uint64_t* number : {&size, &stored_size, &local_offset}) {
      if (*number == kSee64) *number = numbers.number<std::uint64_t>();
    }
    return;
  }
}

Entry read_entry(ByteReader& directory) {
  if (directory.number<std::uint32_t>() != kEntrySignature) {
    malformed(fmt::format("the zip directory has no entry at its byte {}", directory.position() - 4));
  }
  directory.take(2 + 2);  // versions
  const auto flags = directory.number<std::uint16_t>();
  const auto method = directory.number<std::uint16_t>();
  directory.take(2 + 2 + 4);  // time, date, checksum
  std::uint64_t stored_size = directory.number<std::uint32_t>();
  std::uint64_t size = directory.number<std::uint32_t>();
  const auto name_bytes = directory.number<std::uint16_t>();
  const auto extra_bytes = directory.number<std::uint16_t>();
  const auto comment_bytes = directory.number<std::uint16_t>();
  directory.take(2 + 2 + 4);  // disk, attributes
  std::uint64_t local_offset = directory.number<std::uint32_t>();
  Entry entry{.name = std::string(directory.text(name_bytes))};
  read_zip64_numbers(directory.take(extra_bytes), size, stored_size, local_offset);
  directory.take(comment_bytes);
  if ((flags & 1) != 0 || method != 0 || stored_size != size) {
    throw Error(
        ErrorCode::unimplemented,
        fmt::format("zip entry {} is compressed or encrypted, expected it stored as PyTorch stores it",
                    quote_name(entry.name)));
  }
  entry.size = size;
  entry.local_offset = local_offset;
  return entry;
}

// The content follows a local header whose name and extra field may differ in length from the directory's.
std::span<const std::byte> content_of(std::span<const std::byte> archive, const Entry& entry) {
  constexpr std::size_t kLocalBytes = 30;
  const std::string what = fmt::format("zip entry {}", quote_name(entry.name));
  ByteReader local(slice(archive, entry.local_offset, kLocalBytes, what), what);
  if (local.number<std::uint32_t>() != kLocalSignature) {
    malformed(fmt::format("{} has no header at byte {}", what, entry.local_offset));
  }
  local.take(22);
  const std::uint64_t name_bytes = local.number<std::uint16_t>();
  const std::uint64_t extra_bytes = local.number<std::uint16_t>();
  return slice(archive, entry.local_offset + kLocalBytes + name_bytes + extra_bytes, entry.size, what);
}

}  // namespace

ZipEntries stored_zip_entries(std::span<const std::byte> archive) {
  const Directory where = find_directory(archive);
  ByteReader directory(slice(archive, where.offset, where.size, "the zip directory"), "the zip directory");
  ZipEntries entries;
  for (std::uint64_t i = 0; i < where.entries; ++i) {
    const Entry entry = read_entry(directory);
    if (!entries.emplace(entry.name, content_of(archive, entry)).second) {
      malformed(fmt::format("zip entry {} appears twice", quote_name(entry.name)));
    }
  }
  return entries;
}

}  // namespace dfrost
