// SHA-256 and MD5 of files, through OpenSSL. MD5 tells a damaged file, not a forged one; it is used where it
// is all that a data set's authors published.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace dfrost {

enum class DigestKind { sha256, md5 };
constexpr std::size_t kSha256Digits = 64;  // hexadecimal

// Lower-case hexadecimal.
std::string file_digest(const std::filesystem::path& path, DigestKind kind);

// What a file's content must be. An empty one fits anything.
struct ExpectedDigest {
  DigestKind kind = DigestKind::sha256;
  std::string hex = {};  // or its beginning: PyTorch publishes the first eight digits

  bool empty() const { return hex.empty(); }
};

bool matches(const std::filesystem::path& path, const ExpectedDigest& expected);

}  // namespace dfrost
