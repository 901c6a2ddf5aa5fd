#include "data/inflate.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "base/file.h"
#include "data/bad_file.h"

namespace dfrost {
namespace {

constexpr std::size_t kFirstStepBytes = std::size_t{1} << 20;
constexpr int kGzipOrZlib = 15 + 32;  // zlib's own code: largest window, header detected

// Ends zlib's state however the function is left.
struct InflateStream : z_stream {
  InflateStream() : z_stream{} {
    if (inflateInit2(this, kGzipOrZlib) != Z_OK) throw std::bad_alloc();
  }
  ~InflateStream() { inflateEnd(this); }
  InflateStream(const InflateStream&) = delete;
  InflateStream& operator=(const InflateStream&) = delete;
};

// What the end of a gzip file says of its length; a hint, which may lie. Reserved and not touched, memory
// costs nothing.
std::size_t announced_bytes(std::span<const std::byte> bytes) {
  if (!is_gzip(bytes) || bytes.size() < 8) return 4 * bytes.size();
  std::uint32_t size = 0;
  std::memcpy(&size, bytes.data() + bytes.size() - 4, 4);
  return size;
}

}  // namespace

std::size_t inflation_limit(std::size_t compressed_bytes) {
  const std::size_t large = std::max(kLargeInflationBytes, kMaxInflationOfLarge * compressed_bytes);
  return std::max(kFreeInflationBytes, std::min(kMaxInflation * compressed_bytes, large));
}

std::vector<std::uint8_t> inflate_start(std::span<const std::byte> bytes, std::size_t count) {
  InflateStream stream;
  std::vector<std::uint8_t> out(count);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(std::min(bytes.size(), std::size_t{1} << 30));
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(count);
  inflate(&stream, Z_SYNC_FLUSH);
  out.resize(count - stream.avail_out);
  return out;
}

std::vector<std::uint8_t> inflate_bytes(std::span<const std::byte> bytes, const std::string& place,
                                        std::size_t expected_bytes) {
  InflateStream stream;
  const std::size_t limit = inflation_limit(bytes.size());
  std::vector<std::uint8_t> out;
  // One more than expected, so that the end is met before the room is full.
  const std::size_t expected = expected_bytes != 0 ? expected_bytes : announced_bytes(bytes);
  out.reserve(std::min(limit, std::max<std::size_t>(4096, expected + 1)));
  out.resize(std::min(out.capacity(), kFirstStepBytes));
  std::size_t in_done = 0;
  std::size_t out_done = 0;
  for (;;) {
    // zlib counts in 32 bits: hand it at most 1 GiB at a time.
    const std::size_t in_step = std::min(bytes.size() - in_done, std::size_t{1} << 30);
    const std::size_t out_step = std::min(out.size() - out_done, std::size_t{1} << 30);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data() + in_done));
    stream.avail_in = static_cast<uInt>(in_step);
    stream.next_out = out.data() + out_done;
    stream.avail_out = static_cast<uInt>(out_step);
    const int status = inflate(&stream, Z_NO_FLUSH);
    in_done += in_step - stream.avail_in;
    out_done += out_step - stream.avail_out;
    if (status == Z_STREAM_END) break;
    if (status != Z_OK && status != Z_BUF_ERROR) {
      throw bad_file(
          place, in_done,
          fmt::format("corrupt compressed data ({})", stream.msg == nullptr ? "unknown" : stream.msg));
    }
    if (out_done == out.size()) {
      if (out.size() == limit)
        throw bad_file(place, in_done, fmt::format("inflates to more than {} bytes", limit));
      // Within what is reserved it grows in place.
      const std::size_t room = out.capacity() > out.size() ? out.capacity() : limit;
      const std::size_t larger = std::min({limit, room, 2 * out.size()});
      out.reserve(larger);  // exactly: resize alone may take up to twice what it is asked for
      out.resize(larger);
    } else if (in_done == bytes.size()) {
      throw bad_file(place, in_done, "compressed data ends too early");
    }
  }
  out.resize(out_done);
  return out;
}

bool is_gzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
}

std::vector<std::uint8_t> read_maybe_gzip(const std::filesystem::path& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  auto content = is_gzip(bytes) ? inflate_bytes(bytes, path.string())
                                : std::vector<std::uint8_t>(first, first + bytes.size());
  file.check();
  return content;
}

}  // namespace dfrost
