#include "fetch/digest.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/file.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

constexpr std::size_t kStepBytes = 16u << 20;

}  // namespace

std::string file_digest(const std::filesystem::path& path, DigestKind kind) {
  const MappedFile file(path);
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  if (!context ||
      EVP_DigestInit_ex(context.get(), kind == DigestKind::sha256 ? EVP_sha256() : EVP_md5(), nullptr) != 1) {
    throw Error(ErrorCode::internal, "OpenSSL offers no such digest");
  }
  auto rest = file.bytes();
  while (!rest.empty()) {
    const auto step = rest.first(std::min(rest.size(), kStepBytes));
    EVP_DigestUpdate(context.get(), step.data(), step.size());
    file.release(step);
    rest = rest.subspan(step.size());
  }
  file.check();
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  EVP_DigestFinal_ex(context.get(), digest.data(), &length);
  std::string hex;
  for (unsigned int i = 0; i < length; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

bool matches(const std::filesystem::path& path, const ExpectedDigest& expected) {
  return expected.empty() || file_digest(path, expected.kind).starts_with(expected.hex);
}

}  // namespace dfrost
