#include "federation/site.h"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include "base/file.h"
#include "federation/listening.h"
#include "federation/revision.h"
#include "federation/site_data.h"
#include "federation/small_federation.h"
#include "federation/wire_setup.h"
#include "support/support.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;
using test::expect_error;
using test::SmallFederation;
using test::TemporaryFolder;

SiteSettings settings_named(const std::string& name) {
  return {.name = name, .address = "127.0.0.1:7443", .listen = "127.0.0.1:7443"};
}

// A site that is member 1 of a federation of three.
struct JoinedSite {
  TemporaryFolder folder;
  SmallFederation small{3};
  fs::path path = folder / "site";

  JoinedSite() {
    make_site(path, settings_named("here"));
    const Site site = open_site(path);
    auto& self = small.federation.members[1];
    self.name = "here";
    self.address = "127.0.0.1:7443";
    self.public_key = site.key.public_key();
    join_federation(site, federation_text(small.federation, small.founder));
  }
};

TEST(Site, IsMadeWithAKeyThatOnlyItsOwnerReads) {
  const TemporaryFolder folder;
  const auto member = load_member(make_site(folder / "site", settings_named("here")));
  struct ::stat about = {};
  ASSERT_EQ(::stat((folder / "site" / "key.pem").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  const Site site = open_site(folder / "site");
  EXPECT_EQ(site.settings.name, "here");
  EXPECT_EQ(site.key.public_key(), member.public_key);
  EXPECT_FALSE(site.federation);
  expect_error(ErrorCode::failed_precondition, "has not joined", [&] { static_cast<void>(site.joined()); });
  ::chmod((folder / "site" / "key.pem").c_str(), 0644);
  EXPECT_THROW(open_site(folder / "site"), Error);
}

TEST(Site, NeverLosesItsKeyToASecondOne) {
  const TemporaryFolder folder;
  make_site(folder / "site", settings_named("here"));
  const std::string before = read_text_file(folder / "site" / "key.pem");
  expect_error(ErrorCode::invalid_argument, "never replaced",
               [&] { make_site(folder / "site", settings_named("other")); });
  EXPECT_EQ(read_text_file(folder / "site" / "key.pem"), before);
  EXPECT_THROW(make_site(folder / "bad", settings_named("a/b")), Error);
  EXPECT_FALSE(fs::exists(folder / "bad")) << "nothing is made of settings that are wrong";
}

TEST(Site, KnowsItsNumberAndItsOwnExperimentOnceItHasJoined) {
  const JoinedSite joined;
  const Site site = open_site(joined.path);
  EXPECT_EQ(site.number(), 1u);
  EXPECT_EQ(site.joined().hash(), joined.small.federation.hash());
  EXPECT_EQ(read_text_file(joined_file(joined.path)),
            federation_text(joined.small.federation, joined.small.founder));
  const WireOptions wire = wire_options(site);
  EXPECT_EQ(wire.self, 1u);
  ASSERT_EQ(wire.members.size(), 3u);
  EXPECT_EQ(wire.members[1].key, site.key.fingerprint());
  EXPECT_EQ(wire.federation.bytes, site.joined().id().bytes);
}

TEST(Site, JoinsOnlyWhatItsKeyIsInAndWhatFollows) {
  const JoinedSite joined;
  const Site site = open_site(joined.path);
  const Federation& first = *site.federation;
  expect_error(ErrorCode::permission_denied, "not among the members",
               [&] { check_joinable(site, SmallFederation(3).read_back()); });
  const auto sign = [&](const Federation& f) {
    return parse_federation(federation_text(f, joined.small.founder));
  };
  const auto second = sign(without_member(first, "site-0", 4));
  EXPECT_NO_THROW(check_joinable(site, first));
  EXPECT_NO_THROW(check_joinable(site, second));
  join_federation(site, federation_text(without_member(first, "site-0", 4), joined.small.founder));
  const Site later = open_site(joined.path);
  EXPECT_EQ(later.federation->revision, 2u);
  expect_error(ErrorCode::failed_precondition, "has joined revision 2",
               [&] { check_joinable(later, first); });
  expect_error(ErrorCode::failed_precondition, "does not follow",
               [&] { check_joinable(later, sign(without_member(first, "site-2", 4))); });
}

TEST(Site, MixesNoTwoFederationsInOneRun) {
  const JoinedSite joined;
  SmallFederation other(3);
  other.federation.members[0].public_key = open_site(joined.path).key.public_key();
  const auto elsewhere = other.read_back();
  EXPECT_NO_THROW(check_joinable(open_site(joined.path), elsewhere)) << "nothing was learnt yet";
  fs::create_directories(joined.path / "run");
  write_file_atomically(joined.path / "run" / "metrics.jsonl", "{}\n");
  expect_error(ErrorCode::failed_precondition, "another federation",
               [&] { check_joinable(open_site(joined.path), elsewhere); });
}

TEST(Site, ThatLeftTakesPartNoMoreUntilItJoinsAgain) {
  const JoinedSite joined;
  leave_federation(open_site(joined.path));
  const Site left = open_site(joined.path);
  expect_error(ErrorCode::failed_precondition, "has left", [&] { static_cast<void>(left.joined()); });
  EXPECT_THROW(leave_federation(left), Error);
  join_federation(left, federation_text(joined.small.federation, joined.small.founder));
  EXPECT_EQ(open_site(joined.path).number(), 1u);
}

TEST(Site, NeitherJoinsNorLeavesWhileAProcessRunsIt) {
  const JoinedSite joined;
  const Site site = open_site(joined.path);
  const FolderLock lock(joined.path);
  expect_error(ErrorCode::failed_precondition, "a process is running", [&] { leave_federation(site); });
  expect_error(ErrorCode::failed_precondition, "a process is running", [&] {
    join_federation(site, federation_text(joined.small.federation, joined.small.founder));
  });
}

TEST(Site, RefusesAJoinedFileThatWasTamperedWith) {
  const JoinedSite joined;
  std::string text = read_text_file(joined_file(joined.path));
  text.replace(text.find("127.0.0.1:7000"), 14, "127.0.0.1:6666");
  write_file_atomically(joined_file(joined.path), text);
  expect_error(ErrorCode::data_loss, "signature does not fit", [&] { open_site(joined.path); });
}

TEST(SiteSettings, ReadBackWhatWasWritten) {
  const SiteSettings settings{.name = "here",
                              .address = "[::1]:7",
                              .listen = ":0",
                              .data = "/pictures/\"mine\"",
                              .domain = "x",
                              .data_root = "/data",
                              .backbone = "frost-mini",
                              .threads = 3,
                              .heartbeat_seconds = 0.25,
                              .patience_seconds = 60,
                              .min_present = 2,
                              .metrics = "127.0.0.1:9464"};
  const SiteSettings read = parse_site_settings(to_toml(settings), "peer.toml", "/site");
  for (const auto& key : site_keys()) EXPECT_EQ(toml_value(key, read), toml_value(key, settings)) << key.name;
  const SiteSettings share{.name = "here", .partition = true};
  EXPECT_TRUE(parse_site_settings(to_toml(share), "peer.toml", "/site").partition);
}

TEST(SiteSettings, AreRefusedWithTheLineTheyStandIn) {
  const auto refused = [](const std::string& text, const std::string& why) {
    expect_error(ErrorCode::invalid_argument, why,
                 [&] { parse_site_settings("name = \"a\"\n" + text, "peer.toml", "/site"); });
  };
  refused("lisen = \":1\"\n", "did you mean 'listen'");
  refused("lisen = \":1\"\n", "peer.toml, line 2");
  refused("listen = \"7443\"\n", "is no address");
  refused("threads = -1\n", "a whole number from 0 to 4096");
  refused("threads = \"two\"\n", "a whole number");
  refused("partition = 1\n", "true or false");
  refused("patience_seconds = nan\n", "a number of seconds");
  refused("data = \"x\"\npartition = true\n", "both 'data' and 'partition'");
  refused("address = \"a:1\"\n", "does not listen");
  refused("name =\n", "not valid TOML");
  expect_error(ErrorCode::invalid_argument, "cannot name a site",
               [] { parse_site_settings("", "peer.toml", "/site"); });
}

TEST(SiteSettings, CountRelativePathsFromTheSitesFolder) {
  const auto settings = parse_site_settings(
      "name = \"a\"\ndata = \"pictures\"\nbackbone = \"m.safetensors\"\n", "peer.toml", "/site");
  EXPECT_EQ(settings.data, "/site/pictures");
  EXPECT_EQ(settings.backbone, "/site/m.safetensors");
}

TEST(SiteSettings, ThePageInTheDocumentationIsUpToDate) {
  const auto page = fs::path(DFROST_SOURCE_DIR) / "docs/reference/peer.md";
  EXPECT_EQ(read_text_file(page), site_reference_page())
      << "run: dfrost peer explain --markdown > docs/reference/peer.md";
}

TEST(ClassesOfASite, GetTheLabelsOfTheFederation) {
  const std::vector<std::string> all = {"x/ant", "x/bee", "y/bee", "y/cat"};
  EXPECT_EQ(match_classes({"ant", "cat"}, all, "").labels, (std::vector{0, 3}));
  EXPECT_EQ(match_classes({"bee", "cat"}, all, "y").labels, (std::vector{2, 3}));
  EXPECT_EQ(match_classes({"ant"}, all, "x").missing, (std::vector<std::string>{"bee"}));
  const auto bad = ErrorCode::failed_precondition;
  expect_error(bad, "does not know the classes 'dog', 'owl'; it knows 'ant', 'bee'", [&] {
    match_classes({"dog", "owl", "ant"}, all, "x");
  });
  expect_error(bad, "did you mean 'ant'", [&] { match_classes({"amt"}, all, "x"); });
  expect_error(bad, "one of x and one of y", [&] { match_classes({"bee"}, all, ""); });
  expect_error(bad, "no domain 'z'", [&] { match_classes({"bee"}, all, "z"); });
}

TEST(Listening, TellsAPortThatIsTakenFromOneThatIsFree) {
  EXPECT_NO_THROW(try_to_listen(parse_listen_address("127.0.0.1:0")));
  EXPECT_NO_THROW(try_to_listen(parse_listen_address(":0")));
  expect_error(ErrorCode::unavailable, "192.0.2.1",
               [] { try_to_listen(parse_listen_address("192.0.2.1:0")); });
}

}  // namespace
}  // namespace dfrost
