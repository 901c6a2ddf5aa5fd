#include "federation/federation_file.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "config/methods.h"
#include "config/settings_identity.h"
#include "federation/signed_text.h"
#include "federation/small_federation.h"
#include "support/support.h"

namespace dfrost {
namespace {

using test::expect_error;
using test::small_experiment_of;
using test::SmallFederation;

void expect_same(const Federation& a, const Federation& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.software, b.software);
  EXPECT_EQ(a.experiment, b.experiment);
  EXPECT_EQ(a.backbone_fingerprint, b.backbone_fingerprint);
  EXPECT_EQ(a.classes, b.classes);
  EXPECT_EQ(a.quorum, b.quorum);
  EXPECT_EQ(a.revision, b.revision);
  EXPECT_EQ(a.history, b.history);
  EXPECT_EQ(a.founder_key, b.founder_key);
  EXPECT_EQ(a.hash(), b.hash());
  ASSERT_EQ(a.members.size(), b.members.size());
  for (std::size_t i = 0; i < a.members.size(); ++i) {
    EXPECT_EQ(a.members[i].number, b.members[i].number);
    EXPECT_EQ(a.members[i].name, b.members[i].name);
    EXPECT_EQ(a.members[i].address, b.members[i].address);
    EXPECT_EQ(a.members[i].public_key, b.members[i].public_key);
    EXPECT_EQ(a.members[i].from_round, b.members[i].from_round);
    EXPECT_EQ(a.members[i].until_round, b.members[i].until_round);
  }
}

TEST(FederationFile, ReadsBackWhatWasWritten) {
  SmallFederation small(4);
  small.federation.quorum = 3;
  small.federation.members[2].address.clear();
  small.federation.members[3].until_round = 7;
  expect_same(small.federation, small.read_back());
  // Texts that TOML would rather not hold.
  small.federation.classes = {"mnist/\"", "mnist/'''", "mnist/\\", "mnist/\x01 ü"};
  expect_same(small.federation, small.read_back());
  auto config = test::small_experiment_of(4);
  config.data.domains = {{.name = "it's '''mine'''", .path = "/pictures"}};
  small.federation.experiment = to_toml(portable_config(config));
  small.federation.classes = {"it's '''mine'''/a", "it's '''mine'''/b"};
  expect_same(small.federation, small.read_back());
}

TEST(FederationFile, IsRefusedWithAnyByteOfItChanged) {
  SmallFederation small(2);
  // Not every key, so that there are fewer bytes to try.
  small.federation.experiment =
      "[backbone]\npath = \"frost-mini\"\nprecision = \"fp32\"\n[data]\ndomains = [\"mnist\"]\n"
      "[partition]\nclients_per_domain = 2\n[network]\ntopology = \"full\"\n";
  const std::string text = federation_text(small.federation, small.founder);
  RandomStream stream(1, "flipped bits");
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool in_signature = at + 200 > text.size();  // there every bit, elsewhere one
    for (std::uint64_t bit = in_signature ? 0 : stream.below(8); bit < 8; bit += in_signature ? 1 : 8) {
      std::string changed = text;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      EXPECT_THROW(parse_federation(changed), Error) << "byte " << at << ", bit " << bit;
    }
  }
}

TEST(FederationFile, CarriesNoPathOfTheFoundersMachineAndTheSameRunId) {
  auto config = test::small_experiment_of(2);
  config.backbone.path = "/secret/models/deit_tiny.v2.safetensors";
  config.backbone.precision = Precision::automatic;
  config.data.root = "/secret/data";
  config.data.domains = {{.name = "mine", .path = "/secret/patients"}};
  config.run.threads = 7;
  const std::string text = to_toml(portable_config(config));
  EXPECT_EQ(text.find("secret"), std::string::npos) << text;
  const RunConfig there = parse_config(text, "there", "/elsewhere");
  EXPECT_EQ(there.backbone.path, "deit_tiny-v2");
  EXPECT_EQ(there.data.domains[0].path, "/elsewhere/mine");
  const Precision precision = resolve_precision(Precision::automatic);
  EXPECT_EQ(there.backbone.precision, precision);
  EXPECT_EQ(deciding_settings_text(there, there.backbone.precision),
            deciding_settings_text(config, precision));
  EXPECT_EQ(run_id(there, there.backbone.precision), run_id(config, precision));
}

TEST(FederationFile, WithAPathInItsExperimentIsRefused) {
  for (const std::string& change :
       {std::string("data.root=/etc"), std::string("backbone.path=/etc/model"),
        std::string("data.domains=[{name = \"mine\", path = \"../mine\"}]"),
        std::string("data.domains=[{name = \"..\", path = \"..\"}]"),
        std::string("data.domains=[{name = \"a/b\", path = \"a/b\"}]"),
        std::string("network.file=/etc/passwd"), std::string("partition.file=who.csv"),
        std::string("backbone.precision=auto")}) {
    SmallFederation small(2);
    const auto config = parse_config(small.federation.experiment, "test", "/", std::vector{change});
    small.federation.experiment = to_toml(config);
    small.federation.classes = {config.data.domains[0].name + "/a", config.data.domains[0].name + "/b"};
    expect_error(ErrorCode::failed_precondition, "names files of one machine",
                 [&] { check_federation(small.federation); });
    const auto text = sign_text(SignedKind::federation, federation_body(small.federation), small.founder);
    EXPECT_THROW(parse_federation(text), Error) << change;
  }
}

// 'federation create' makes none such; whoever signs a file may have written it by hand.
TEST(FederationFile, OfAMethodThatIsNotForSitesIsRefusedByWhomeverReadsIt) {
  const auto federation_with = [](const std::string& method, double noise, MomentsOf moments) {
    RunConfig config = small_experiment_of(2);
    apply_method(config, method);
    config.train.frame.noise = noise;
    config.train.frame.moments = moments;
    SmallFederation small(2);
    small.federation.experiment = to_toml(portable_config(config));
    return small;
  };
  const auto refused = [](const std::string& why, const SmallFederation& small) {
    expect_error(ErrorCode::failed_precondition, why, [&] { check_federation(small.federation); });
    const auto text = sign_text(SignedKind::federation, federation_body(small.federation), small.founder);
    EXPECT_THROW(parse_federation(text), Error) << why;
  };
  refused("train.moment_noise is not for sites", federation_with("dfrost-plus", 0.1, MomentsOf::network));
  refused("method.round = ntk is not for sites", federation_with("ntk-dfl", 0, MomentsOf::network));
  refused("is not for sites", federation_with("local", 0, MomentsOf::network));
  check_federation(federation_with("dfrost-plus", 0, MomentsOf::network).federation);
  // Noise on moments that stay at home hides nothing and harms nobody.
  check_federation(federation_with("dfrost-plus", 0.1, MomentsOf::own).federation);
}

TEST(FederationFile, IsRefusedWhereItsPartsDoNotFit) {
  const auto refused = [](const std::string& why, const auto& change) {
    SmallFederation small(3);
    change(small.federation);
    try {
      check_federation(small.federation);
      ADD_FAILURE() << "accepted: " << why;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << why << " not in: " << error.what();
    }
    // Whoever signs it.
    const auto text = sign_text(SignedKind::federation, federation_body(small.federation), small.founder);
    EXPECT_THROW(parse_federation(text), Error) << why;
  };
  refused("same name", [](Federation& f) { f.members[1].name = "SITE-0"; });
  refused("same key", [](Federation& f) { f.members[2].public_key = f.members[0].public_key; });
  refused("same address", [](Federation& f) { f.members[1].address = f.members[0].address; });
  refused("cannot name a site", [](Federation& f) { f.members[1].name = "a b"; });
  refused("cannot name a site", [](Federation& f) { f.name = "a/b"; });
  refused("is no address", [](Federation& f) { f.members[1].address = "x"; });
  refused("has the number 1 where 2 is next", [](Federation& f) { f.members[2].number = 1; });
  refused("3 clients and the federation 2 members", [](Federation& f) { f.members.pop_back(); });
  refused("without members", [](Federation& f) { f.members.clear(); });
  refused("the quorum is 4", [](Federation& f) { f.quorum = 4; });
  refused("from round 0", [](Federation& f) { f.members[0].from_round = 0; });
  refused("until 2", [](Federation& f) { f.members[0].from_round = 3, f.members[0].until_round = 2; });
  refused("nobody takes part in round 1", [](Federation& f) {
    for (auto& member : f.members) member.from_round = 2;
  });
  refused("listed twice", [](Federation& f) { f.classes[1] = f.classes[0]; });
  refused("of no domain", [](Federation& f) { f.classes[1] = "svhn/1"; });
  refused("fewer than two classes", [](Federation& f) { f.classes.resize(1); });
  refused("fingerprint is damaged", [](Federation& f) { f.backbone_fingerprint = "0123"; });
  refused("there is no section", [](Federation& f) { f.experiment += "[nowhere]\n"; });
}

TEST(FederationFile, BoundsWhatAStrangerSignsForHimself) {
  const PrivateKey stranger = PrivateKey::generate();
  const auto refused = [&](const std::string& body) {
    EXPECT_THROW(parse_federation(sign_text(SignedKind::federation, body, stranger)), Error)
        << body.substr(0, 80);
  };
  std::string dotted = "a";
  for (int i = 0; i < 50'000; ++i) dotted += ".a";
  refused(dotted + " = 1\n");
  refused("[" + dotted + "]\n");
  refused("a = " + std::string(100'000, '[') + "\n");
  std::string tables = "a = 1";
  for (int i = 0; i < 50'000; ++i) tables = "a = {";
  refused(tables);
  refused("name = \"" + std::string(1u << 20, 'a') + "\"\n");
  SmallFederation small(2);
  small.federation.experiment = dotted + " = 1\n";
  refused(federation_body(small.federation));
}

TEST(FederationFile, SaysNothingToTheTerminalThroughItsErrors) {
  SmallFederation small(2);
  small.federation.experiment += "[\"\\u001b[2J\"]\n";
  const auto text = sign_text(SignedKind::federation, federation_body(small.federation), small.founder);
  expect_error(ErrorCode::data_loss, "\\x1b[2J", [&] { parse_federation(text); });
}

TEST(FederationFile, IsWrittenOnlyWithTheFoundersKey) {
  const SmallFederation small(2);
  expect_error(ErrorCode::permission_denied, "not the founder's",
               [&] { federation_text(small.federation, small.keys[0]); });
}

TEST(FederationFile, NamesThePairThatCannotReachEachOther) {
  SmallFederation small(4);
  auto& members = small.federation.members;
  members[1].address.clear();
  EXPECT_NO_THROW(check_reachable(small.federation));
  members[3].address.clear();
  expect_error(ErrorCode::failed_precondition, "neither site-1 nor site-3 has an address",
               [&] { check_reachable(small.federation); });
  // Who leaves before the other comes need not reach it.
  members[1].until_round = 5;
  members[3].from_round = 5;
  EXPECT_NO_THROW(check_reachable(small.federation));
  members[3].from_round = 4;
  EXPECT_THROW(check_reachable(small.federation), Error);
}

TEST(FederationFile, HasAFingerprintOfEightyBitsToReadOut) {
  const SmallFederation small(2);
  const auto printed = small.read_back().fingerprint();
  EXPECT_EQ(printed.size(), 5 * 4 + 4u) << printed;
  EXPECT_EQ(std::ranges::count(printed, '-'), 4);
  EXPECT_EQ(read_out("0123456789abcdef0123456789abcdef"), "0123-4567-89AB-CDEF-0123");
  EXPECT_NE(printed, SmallFederation(2).read_back().fingerprint());
}

}  // namespace
}  // namespace dfrost
