#include "network/tls/identity.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/core_names.h>
#include <openssl/pem.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/file.h"
#include "dfrost/error.h"
#include "network/tls/openssl.h"

namespace dfrost {
namespace {

constexpr std::size_t kMostKeyFileBytes = 16 << 10;

const unsigned char* raw(std::span<const std::byte> bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

[[noreturn]] void fail_inside(std::string_view doing) {
  throw Error(ErrorCode::internal, fmt::format("OpenSSL could not {}: {}", doing, openssl_reason()));
}

bool is_ed25519(EVP_PKEY* key) { return EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519; }

bool is_usable(EVP_PKEY* key) {
  if (is_ed25519(key)) return true;
  if (EVP_PKEY_get_base_id(key) != EVP_PKEY_EC) return false;
  std::array<char, 32> group{};
  return EVP_PKEY_get_utf8_string_param(key, OSSL_PKEY_PARAM_GROUP_NAME, group.data(), group.size(),
                                        nullptr) == 1 &&
         std::string_view(group.data()) == "prime256v1";
}

// Ed25519 hashes by itself.
const EVP_MD* digest_for(EVP_PKEY* key) { return is_ed25519(key) ? nullptr : EVP_sha256(); }

void refuse_if_others_may_read(const std::filesystem::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || (info.st_mode & (S_IRWXG | S_IRWXO)) == 0) return;
  throw Error(ErrorCode::failed_precondition,
              fmt::format("others than its owner may read the private key (mode {:03o})",
                          static_cast<unsigned>(info.st_mode & 0777)),
              fmt::format("run chmod 600 {}; if somebody may have read it, make a new key", path.string()))
      .at(path.string());
}

// A key that is asked for is not there to be typed in: an encrypted file is refused, not waited for.
int no_password(char*, int, int, void*) { return -1; }

std::string pem_of(EVP_PKEY* key) {
  const OwnedBio memory(BIO_new(BIO_s_mem()));
  if (!memory || PEM_write_bio_PKCS8PrivateKey(memory.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1)
    fail_inside("write a key");
  char* text = nullptr;
  const long length = BIO_get_mem_data(memory.get(), &text);
  return {text, static_cast<std::size_t>(length)};
}

}  // namespace

std::string to_string(const KeyFingerprint& fingerprint) {
  std::string digits;
  for (const std::byte byte : fingerprint.bytes)
    digits += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return digits;
}

KeyFingerprint parse_key_fingerprint(std::string_view hexadecimal) {
  const auto digit = [&](std::size_t i) {
    const auto place = std::string_view("0123456789abcdef").find(hexadecimal[i]);
    if (place != std::string_view::npos) return static_cast<unsigned>(place);
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a key's fingerprint has something other than 0-9a-f at place {}", i + 1));
  };
  KeyFingerprint fingerprint;
  if (hexadecimal.size() != 2 * fingerprint.bytes.size()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a key's fingerprint of {} digits, where 64 hexadecimal ones belong",
                            hexadecimal.size()));
  }
  for (std::size_t i = 0; i < fingerprint.bytes.size(); ++i)
    fingerprint.bytes[i] = static_cast<std::byte>(digit(2 * i) << 4 | digit(2 * i + 1));
  return fingerprint;
}

PrivateKey::PrivateKey(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PrivateKey::~PrivateKey() = default;
PrivateKey::PrivateKey(PrivateKey&& other) noexcept = default;
PrivateKey& PrivateKey::operator=(PrivateKey&& other) noexcept = default;

PrivateKey PrivateKey::generate() {
  OwnedKey key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  if (!key) fail_inside("make a key");
  return PrivateKey(std::make_unique<Impl>(Impl{std::move(key)}));
}

PrivateKey PrivateKey::load(const std::filesystem::path& path) {
  const std::string text = read_text_file(path, kMostKeyFileBytes);
  refuse_if_others_may_read(path);
  const OwnedBio memory(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  OwnedKey key(PEM_read_bio_PrivateKey(memory.get(), nullptr, no_password, nullptr));
  if (!key) {
    throw Error(ErrorCode::data_loss,
                fmt::format("this is no private key that can be read: {}", openssl_reason()),
                "it is a PEM file without a password that begins with -----BEGIN PRIVATE KEY-----; "
                "restore it from its backup")
        .at(path.string());
  }
  if (!is_usable(key.get())) {
    throw Error(ErrorCode::unimplemented, "a private key that is neither Ed25519 nor P-256",
                "make one of those, such as with openssl genpkey -algorithm ed25519")
        .at(path.string());
  }
  return PrivateKey(std::make_unique<Impl>(Impl{std::move(key)}));
}

void PrivateKey::save(const std::filesystem::path& path) const {
  const std::string text = pem_of(impl_->key.get());
  const auto fail = [&](int error) {
    throw Error(
        error == EEXIST   ? ErrorCode::already_exists
        : error == ENOENT ? ErrorCode::not_found
                          : ErrorCode::permission_denied,
        fmt::format("cannot write a private key: {}", std::strerror(error)),
        error == EEXIST ? "a key is never overwritten: who loses it loses the identity; move it away" : "")
        .at(path.string());
  };
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) fail(errno);
  const bool written =
      ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(file) == 0;
  const int error = written ? 0 : errno;
  ::close(file);
  if (written) return;
  ::unlink(path.c_str());  // half a key helps nobody, and would stand in the way of the next attempt
  fail(error == 0 ? ENOSPC : error);
}

std::vector<std::byte> PrivateKey::public_key() const {
  unsigned char* der = nullptr;
  const int length = i2d_PUBKEY(impl_->key.get(), &der);
  if (length <= 0) fail_inside("write a public key");
  const auto* first = reinterpret_cast<const std::byte*>(der);
  std::vector<std::byte> bytes(first, first + length);
  OPENSSL_free(der);
  return bytes;
}

KeyFingerprint PrivateKey::fingerprint() const { return fingerprint_of(public_key()); }

std::vector<std::byte> PrivateKey::sign(std::span<const std::byte> message) const {
  EVP_PKEY* key = impl_->key.get();
  const OwnedDigest digest(EVP_MD_CTX_new());
  std::size_t length = 0;
  if (!digest || EVP_DigestSignInit(digest.get(), nullptr, digest_for(key), nullptr, key) != 1 ||
      EVP_DigestSign(digest.get(), nullptr, &length, raw(message), message.size()) != 1)
    fail_inside("sign");
  std::vector<std::byte> signature(length);
  if (EVP_DigestSign(digest.get(), reinterpret_cast<unsigned char*>(signature.data()), &length, raw(message),
                     message.size()) != 1)
    fail_inside("sign");
  signature.resize(length);
  return signature;
}

bool signature_fits(std::span<const std::byte> public_key_der, std::span<const std::byte> message,
                    std::span<const std::byte> signature) {
  const unsigned char* at = raw(public_key_der);
  const OwnedKey key(d2i_PUBKEY(nullptr, &at, static_cast<long>(public_key_der.size())));
  const bool whole = key && at == raw(public_key_der) + public_key_der.size() && is_usable(key.get());
  const OwnedDigest digest(EVP_MD_CTX_new());
  const bool fits =
      whole && digest &&
      EVP_DigestVerifyInit(digest.get(), nullptr, digest_for(key.get()), nullptr, key.get()) == 1 &&
      EVP_DigestVerify(digest.get(), raw(signature), signature.size(), raw(message), message.size()) == 1;
  ERR_clear_error();
  return fits;
}

KeyFingerprint fingerprint_of(std::span<const std::byte> public_key_der) {
  KeyFingerprint fingerprint;
  unsigned int length = 0;
  if (EVP_Digest(public_key_der.data(), public_key_der.size(),
                 reinterpret_cast<unsigned char*>(fingerprint.bytes.data()), &length, EVP_sha256(),
                 nullptr) != 1)
    fail_inside("compute a SHA-256");
  return fingerprint;
}

}  // namespace dfrost
