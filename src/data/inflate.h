// gzip and zlib streams, inflated with a bound: memory follows the bytes that really come out, never a size
// that a header claims, and a stream that grows beyond any real data set's ratio is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace dfrost {

// Real pictures and labels inflate 1.1 to 40 times. Anything may reach 1 MiB.
inline constexpr std::size_t kMaxInflation = 100;
inline constexpr std::size_t kFreeInflationBytes = 1u << 20;

// One gzip member or zlib stream, told apart by its header. `place` names it in errors, which add the offset.
std::vector<std::uint8_t> inflate_bytes(std::span<const std::byte> bytes, const std::string& place);

bool is_gzip(std::span<const std::byte> bytes);

// A whole file, inflated if it is gzip (by content, not by name).
std::vector<std::uint8_t> read_maybe_gzip(const std::filesystem::path& path);

}  // namespace dfrost
