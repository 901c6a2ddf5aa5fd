#include "federation/member_file.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "federation/names.h"
#include "federation/signed_text.h"
#include "support/support.h"

namespace dfrost {
namespace {

using test::expect_error;

TEST(MemberFile, ReadsBackWhatWasWritten) {
  const PrivateKey key = PrivateKey::generate();
  for (const std::string address : {"", "a.example:7443", "192.0.2.7:1", "[2001:db8::7]:65535"}) {
    const MemberFile member = parse_member(member_text("clinic-a", address, key));
    EXPECT_EQ(member.name, "clinic-a");
    EXPECT_EQ(member.address, address);
    EXPECT_EQ(member.public_key, key.public_key());
    EXPECT_EQ(member.key(), key.fingerprint());
  }
}

TEST(MemberFile, IsRefusedWithAnyBitOfItFlipped) {
  const std::string text = member_text("clinic-a", "a.example:7443", PrivateKey::generate());
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = text;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      EXPECT_THROW(parse_member(changed), Error) << "byte " << at << ", bit " << bit;
    }
  }
}

TEST(MemberFile, IsRefusedWithAnyByteLeftOutOrAdded) {
  const std::string text = member_text("clinic-a", "", PrivateKey::generate());
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at < text.size()) {
      EXPECT_THROW(parse_member(text.substr(0, at)), Error) << at;
      EXPECT_THROW(parse_member(text.substr(0, at) + text.substr(at + 1)), Error) << at;
    }
    EXPECT_THROW(parse_member(text.substr(0, at) + " " + text.substr(at)), Error) << at;
    EXPECT_THROW(parse_member(text.substr(0, at) + "\n" + text.substr(at)), Error) << at;
  }
}

TEST(MemberFile, SaysWhatIsWrongWithOneThatIsNot) {
  const PrivateKey key = PrivateKey::generate();
  const auto signed_body = [&](const std::string& body) {
    return [text = sign_text(SignedKind::member, body, key)] { parse_member(text); };
  };
  const auto bad = ErrorCode::data_loss;
  expect_error(bad, "its signature does not fit", [&] {
    const auto text = member_text("clinic-a", "", key);
    parse_member(text.substr(0, text.find("clinic-a")) + "clinic-b" + text.substr(text.find("clinic-a") + 8));
  });
  expect_error(bad, "not a member file of dfrost", [] { parse_member("name = \"a\"\n"); });
  expect_error(bad, "this is a federation file", [] { parse_member("# dfrost federation 1\nx"); });
  expect_error(ErrorCode::unimplemented, "format '2'", [] { parse_member("# dfrost member 2\nx"); });
  expect_error(bad, "attachment", [&] {
    std::string mailed;
    for (const char c : member_text("clinic-a", "", key)) mailed += c == '\n' ? "\r\n" : std::string(1, c);
    parse_member(mailed.replace(mailed.find("\r\n"), 2, "\n"));
  });
  expect_error(bad, "'name' is missing", signed_body("address = \"\"\n"));
  expect_error(bad, "cannot name a site", signed_body("name = \"../a\"\naddress = \"\"\n"));
  expect_error(bad, "is no address", signed_body("name = \"a\"\naddress = \"nowhere\"\n"));
  expect_error(bad, "knows no 'more'", signed_body("name = \"a\"\naddress = \"\"\nmore = 1\n"));
  expect_error(bad, "not valid TOML", signed_body("name = \n"));
  expect_error(bad, "not UTF-8", signed_body("# \xff\nname = \"a\"\naddress = \"\"\n"));
  expect_error(bad, "nests too deep",
               signed_body(std::string(100'000, 'a') + std::string(200, '.') + "a = 1\n"));
}

TEST(MemberFile, OfTooManyBytesIsNotReadAtAll) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "large.member", "# dfrost member 1\n" + std::string(1u << 20, ' '));
  EXPECT_THROW(load_member(folder / "large.member"), Error);
}

TEST(MemberName, IsShortPlainAndSafeAsTheNameOfAFile) {
  for (const char* name : {"a", "clinic-a", "Clinic_A.2", "7"})
    EXPECT_NO_THROW(check_member_name(name)) << name;
  const std::string longest(kLongestMemberName, 'a');
  EXPECT_NO_THROW(check_member_name(longest));
  for (const std::string& name : {std::string(), longest + "a", std::string(".hidden"), std::string("-rf"),
                                  std::string("a/b"), std::string("a b"), std::string("ünï"),
                                  std::string("a\n"), std::string("a\0b", 3), std::string("..")})
    EXPECT_THROW(check_member_name(name), Error) << name;
}

TEST(Address, IsHostAndPort) {
  EXPECT_EQ(parse_address("a.example:7443").host, "a.example");
  EXPECT_EQ(parse_address("[::1]:80").host, "::1");
  EXPECT_EQ(parse_address("[::1]:80").port, 80);
  for (const char* text : {"", "a", "a:", ":1", "a:0", "a:65536", "a:-1", "a:1x", "::1:80", "[::1]", "[]:1",
                           "[x]", "a b:1", "a/b:1", "-a:1", "a:1 ", "a\n:1"})
    EXPECT_THROW(parse_address(text), Error) << text;
  EXPECT_EQ(parse_listen_address(":0").port, 0);
  EXPECT_EQ(parse_listen_address("0.0.0.0:7443").host, "0.0.0.0");
  EXPECT_THROW(parse_listen_address("7443"), Error);
}

}  // namespace
}  // namespace dfrost
