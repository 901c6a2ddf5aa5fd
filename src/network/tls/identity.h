// Who a site is: a private key that never leaves it, and the SHA-256 of the public key, by which all others
// know it. Keys are Ed25519; P-256 ones are read too. No certificate of anybody else is involved.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dfrost {

// SHA-256 of a public key's DER form (SubjectPublicKeyInfo).
struct KeyFingerprint {
  std::array<std::byte, 32> bytes = {};

  // NOLINTNEXTLINE(modernize-use-nullptr): takes the comparison's own 0 for a pointer
  friend auto operator<=>(const KeyFingerprint&, const KeyFingerprint&) = default;
};
std::string to_string(const KeyFingerprint& fingerprint);            // 64 lower-case hexadecimal digits
KeyFingerprint parse_key_fingerprint(std::string_view hexadecimal);  // throws (invalid_argument)

class PrivateKey {
 public:
  static PrivateKey generate();  // Ed25519
  // A PEM file (PKCS#8). One that others than its owner may read is refused (failed_precondition).
  static PrivateKey load(const std::filesystem::path& path);
  ~PrivateKey();
  PrivateKey(PrivateKey&& other) noexcept;
  PrivateKey& operator=(PrivateKey&& other) noexcept;

  // For its owner alone (mode 0600), and never over a file that is there (already_exists).
  void save(const std::filesystem::path& path) const;

  std::vector<std::byte> public_key() const;  // DER, SubjectPublicKeyInfo
  KeyFingerprint fingerprint() const;
  std::vector<std::byte> sign(std::span<const std::byte> message) const;

  struct Impl;
  const Impl& impl() const { return *impl_; }  // for the TLS code alone

 private:
  explicit PrivateKey(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// False for a signature by another key or of another message, and for bytes that are no key or no signature.
bool signature_fits(std::span<const std::byte> public_key_der, std::span<const std::byte> message,
                    std::span<const std::byte> signature);

KeyFingerprint fingerprint_of(std::span<const std::byte> public_key_der);

}  // namespace dfrost
