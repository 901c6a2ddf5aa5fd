// site/NAME.member: what a site tells the founder of itself, to be mailed: name, address where it has one,
// and public key. Signed by that key, so that a slip or a change on the way shows; whether it is that site's
// is for people to compare (the key's fingerprint).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "network/tls/identity.h"

namespace dfrost {

struct MemberFile {
  std::string name = {};
  std::string address = {};  // "host:port"; empty: it only dials, as from behind NAT
  std::vector<std::byte> public_key = {};

  KeyFingerprint key() const { return fingerprint_of(public_key); }
};

// What stands between the first line and the signature.
std::string member_body(const std::string& name, const std::string& address);
// Throws (data_loss) where it is not that. Of a body that somebody signed, and of any other text.
MemberFile parse_member_body(std::string_view body, std::vector<std::byte> signer);

std::string member_text(const std::string& name, const std::string& address, const PrivateKey& key);
// The signature first. Errors have no place.
MemberFile parse_member(std::string_view text);
MemberFile load_member(const std::filesystem::path& path);

}  // namespace dfrost
