#include "federation/member_file.h"

#include <fmt/format.h>

#include "base/file.h"
#include "config/key.h"
#include "dfrost/error.h"
#include "federation/names.h"
#include "federation/signed_text.h"
#include "federation/strict_toml.h"

namespace dfrost {
namespace {

constexpr std::size_t kLargestMemberFile = 16u << 10;

}  // namespace

std::string member_body(const std::string& name, const std::string& address) {
  return fmt::format(
      "# Who a site is: send this file to the founder of the federation. The private key is not in it.\n"
      "name = {}\naddress = {}\n",
      toml_text(name), toml_text(address));
}

MemberFile parse_member_body(std::string_view body, std::vector<std::byte> signer) {
  const toml::table table = parse_strict_toml(body);
  StrictTable values(table);
  MemberFile member;
  member.name = values.text("name", kLongestMemberName);
  member.address = values.text("address", 300);
  values.done();
  check_member_name(member.name);
  if (!member.address.empty()) parse_address(member.address);
  member.public_key = std::move(signer);
  return member;
}

std::string member_text(const std::string& name, const std::string& address, const PrivateKey& key) {
  check_member_name(name);
  if (!address.empty()) parse_address(address);
  return sign_text(SignedKind::member, member_body(name, address), key);
}

MemberFile parse_member(std::string_view text) {
  auto opened = open_signed_text(SignedKind::member, text);
  try {
    return parse_member_body(opened.body, std::move(opened.signer));
  } catch (const Error& error) {  // a bad name is here a bad file
    throw Error(ErrorCode::data_loss, error.what(), error.hint());
  }
}

MemberFile load_member(const std::filesystem::path& path) {
  try {
    return parse_member(read_text_file(path, kLargestMemberFile));
  } catch (Error& error) {
    throw error.at(path.string());
  }
}

}  // namespace dfrost
