#include "network/tls/identity.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/file.h"
#include "support/support.h"

namespace dfrost {
namespace {

using test::expect_error;

std::span<const std::byte> as_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

// The example of RFC 8410, section 10.
constexpr std::string_view kExampleKey =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n"
    "-----END PRIVATE KEY-----\n";
// SHA-256 of its public key there, by sha256sum.
constexpr std::string_view kExampleFingerprint =
    "a1e9156054e04fac899ae9f275132cdc07a5dbc4ea2c2ad3a1ffc6e0d253681f";

std::filesystem::path write_key(const test::TemporaryFolder& folder, std::string_view text,
                                std::filesystem::perms mode) {
  const auto path = folder / "key.pem";
  std::ofstream(path) << text;
  std::filesystem::permissions(path, mode);
  return path;
}

constexpr auto kOwner = std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;

TEST(Identity, OfTheKeyInRfc8410IsTheHashOfThePublicKeyThere) {
  const test::TemporaryFolder folder;
  const auto key = PrivateKey::load(write_key(folder, kExampleKey, kOwner));
  EXPECT_EQ(to_string(key.fingerprint()), kExampleFingerprint);
  EXPECT_EQ(parse_key_fingerprint(kExampleFingerprint), key.fingerprint());
}

TEST(Identity, StaysTheSameThroughAFileThatOnlyItsOwnerMayRead) {
  const test::TemporaryFolder folder;
  const auto key = PrivateKey::generate();
  key.save(folder / "key.pem");
  EXPECT_EQ(std::filesystem::status(folder / "key.pem").permissions(), kOwner);
  EXPECT_EQ(PrivateKey::load(folder / "key.pem").fingerprint(), key.fingerprint());
  EXPECT_NE(PrivateKey::generate().fingerprint(), key.fingerprint());
}

TEST(Identity, IsNeverWrittenOverAnother) {
  const test::TemporaryFolder folder;
  PrivateKey::generate().save(folder / "key.pem");
  const auto before = read_text_file(folder / "key.pem");
  expect_error(ErrorCode::already_exists, "never overwritten",
               [&] { PrivateKey::generate().save(folder / "key.pem"); });
  EXPECT_EQ(read_text_file(folder / "key.pem"), before);
}

TEST(Identity, ThatOthersMayReadIsRefusedWithTheCommandThatHelps) {
  const test::TemporaryFolder folder;
  const auto path = write_key(folder, kExampleKey, kOwner | std::filesystem::perms::group_read);
  expect_error(ErrorCode::failed_precondition, "chmod 600", [&] { PrivateKey::load(path); });
}

TEST(Identity, ThatIsNoKeyIsRefused) {
  const test::TemporaryFolder folder;
  const auto path = write_key(folder, kExampleKey.substr(0, 60), kOwner);
  expect_error(ErrorCode::data_loss, "no private key", [&] { PrivateKey::load(path); });
  expect_error(ErrorCode::not_found, "absent", [&] { PrivateKey::load(folder / "absent"); });
}

TEST(Identity, SignsWhatOnlyItsPublicKeyConfirms) {
  const auto key = PrivateKey::generate();
  const auto signature = key.sign(as_bytes("five sites"));
  const auto public_key = key.public_key();
  EXPECT_TRUE(signature_fits(public_key, as_bytes("five sites"), signature));
  EXPECT_FALSE(signature_fits(public_key, as_bytes("nine sites"), signature));
  EXPECT_FALSE(signature_fits(PrivateKey::generate().public_key(), as_bytes("five sites"), signature));
  EXPECT_FALSE(signature_fits(public_key, as_bytes("five sites"), as_bytes("no signature")));
  EXPECT_FALSE(signature_fits(as_bytes("no key"), as_bytes("five sites"), signature));
}

// A P-256 key, from openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256.
constexpr std::string_view kP256Key = R"(-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg80VAXueNdpPhNdIG
j1NvkIbYdY5MAWcFP7UN5us2Ay+hRANCAAQBNBgrf8zwIiTnEqke3sv9LMWFF+XA
hilT/e8Ge4rOorjgt9fMaJmg7yVv+B1/N2bjS7X2SITSjZ8fp9sJ6/k+
-----END PRIVATE KEY-----
)";

TEST(Identity, MayBeAKeyOfP256) {
  const test::TemporaryFolder folder;
  const auto key = PrivateKey::load(write_key(folder, kP256Key, kOwner));
  EXPECT_TRUE(signature_fits(key.public_key(), as_bytes("a"), key.sign(as_bytes("a"))));
}

TEST(Identity, IsWrittenInSixtyFourDigitsAndNothingElse) {
  expect_error(ErrorCode::invalid_argument, "64", [] { parse_key_fingerprint("c0ed"); });
  expect_error(ErrorCode::invalid_argument, "place 64",
               [] { parse_key_fingerprint(std::string(kExampleFingerprint.substr(0, 63)) + "x"); });
}

}  // namespace
}  // namespace dfrost
