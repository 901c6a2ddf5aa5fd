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

// Real pictures and labels inflate 1.1 to 40 times. Anything may reach 1 MiB, nothing goes beyond 100 times
// its length, and what becomes large (96 MiB) at most 5 times.
inline constexpr std::size_t kMaxInflation = 100;
inline constexpr std::size_t kMaxInflationOfLarge = 5;
inline constexpr std::size_t kFreeInflationBytes = 1u << 20;
inline constexpr std::size_t kLargeInflationBytes = std::size_t{96} << 20;

// What that many compressed bytes may become.
std::size_t inflation_limit(std::size_t compressed_bytes);

// One gzip member or zlib stream, told apart by its header. `place` names it in errors, which add the offset.
// `expected_bytes`, where it is known, saves moving what has grown; it need not be true.
std::vector<std::uint8_t> inflate_bytes(std::span<const std::byte> bytes, const std::string& place,
                                        std::size_t expected_bytes = 0);

// The first `count` of them, or fewer where the stream ends or breaks before: for a look at a header.
std::vector<std::uint8_t> inflate_start(std::span<const std::byte> bytes, std::size_t count);

bool is_gzip(std::span<const std::byte> bytes);

// A whole file, inflated if it is gzip (by content, not by name).
std::vector<std::uint8_t> read_maybe_gzip(const std::filesystem::path& path);

}  // namespace dfrost
