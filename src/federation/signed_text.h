// A text that carries its signature: a first line that says what it is, a body, and at the end the signer's
// public key and its signature of all that stands before. Nothing of the body is parsed before the signature
// fits, and any changed byte is refused. What is signed says nothing of who the signer is: that is for the
// reader to compare.
//
//   # dfrost member 1
//   …body…
//
//   [signature]
//   key = "302a…"       public key, DER, hexadecimal
//   value = "9f31…"     Ed25519, or ECDSA with SHA-256 for a P-256 key
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "network/tls/identity.h"

namespace dfrost {

enum class SignedKind { member, federation };

struct SignedText {
  std::string body;
  std::vector<std::byte> signer;  // public key, DER
  std::string hash;               // SHA-256 of what is signed, 64 hexadecimal digits
};

// All of the file that is signed: everything before the signature's value.
std::string text_to_sign(SignedKind kind, std::string_view body, std::span<const std::byte> signer);
// SHA-256, 64 hexadecimal digits.
std::string hash_of_text(std::string_view text);

std::string sign_text(SignedKind kind, std::string_view body, const PrivateKey& key);

// Throws (data_loss; unimplemented for a later format) without a place. The body is UTF-8.
SignedText open_signed_text(SignedKind kind, std::string_view text);

}  // namespace dfrost
