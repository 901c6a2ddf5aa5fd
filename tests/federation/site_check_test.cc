#include "federation/site_check.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "federation/site.h"
#include "federation/small_federation.h"
#include "federation/wire_setup.h"
#include "network/tls/tls_network.h"
#include "support/support.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;
using test::SmallFederation;
using test::TemporaryFolder;

SiteCheck row_of(const std::vector<SiteCheck>& checks, const std::string& subject) {
  const auto found = std::ranges::find(checks, subject, &SiteCheck::subject);
  if (found != checks.end()) return *found;
  ADD_FAILURE() << "no row " << subject;
  return {};
}

// Two sites on loopback; the first runs as the wire has it, the second looks at it.
struct TwoSites {
  TemporaryFolder folder;
  fs::path here = folder / "here", there = folder / "there";
  SmallFederation small{2};
  std::optional<TlsNetwork> network;

  // The port is known only once somebody listens, and the federation names it.
  TwoSites() {
    make_site(there, {.name = "there", .address = "127.0.0.1:9", .listen = "127.0.0.1:0"});
    make_site(here, {.name = "here"});
    const auto fill = [&](std::size_t number, const std::string& name, const fs::path& site) {
      small.federation.members[number].name = name;
      small.federation.members[number].public_key = load_site_key(site).public_key();
    };
    fill(0, "there", there);
    fill(1, "here", here);
    small.federation.members[1].address.clear();
    small.federation.members[0].address = "127.0.0.1:" + std::to_string(free_port());
    join(there);
    join(here);
  }

  void join(const fs::path& site) const {
    join_federation(open_site(site), federation_text(small.federation, small.founder));
  }

  void start(std::uint64_t revision = 1) {
    const Site site = open_site(there);
    WireOptions options = wire_options(site);
    options.listen = small.federation.members[0].address;
    options.revision = revision;
    network.emplace(options, site.key);
  }

  SiteCheck found() const { return row_of(check_site(here, {.timeout_seconds = 20}), "member there"); }

 private:
  std::uint16_t free_port() const {
    SmallFederation other(1);
    WireOptions options;
    options.listen = "127.0.0.1:0";
    options.members = {{.number = 0, .name = "x", .address = "", .key = other.keys[0].fingerprint()}};
    return TlsNetwork(options, other.keys[0]).port();
  }
};

TEST(SiteCheck, DialsTheMembersAndSaysWhoWelcomesIt) {
  TwoSites sites;
  EXPECT_EQ(sites.found().finding, Finding::network_problem) << "not started yet";
  sites.start();
  const SiteCheck welcomed = sites.found();
  EXPECT_EQ(welcomed.finding, Finding::good) << welcomed.what;
  EXPECT_NE(welcomed.what.find("welcomed"), std::string::npos) << welcomed.what;
}

TEST(SiteCheck, SaysThatAMemberHasAnotherRevision) {
  TwoSites sites;
  sites.start(2);
  const SiteCheck refused = sites.found();
  EXPECT_EQ(refused.finding, Finding::network_problem);
  EXPECT_NE(refused.what.find("revision 2"), std::string::npos) << refused.what;
  EXPECT_FALSE(refused.hint.empty());
}

TEST(SiteCheck, LeavesLinksAloneWhileTheSiteRuns) {
  const TwoSites sites;
  const FolderLock lock(sites.here);
  const auto checks = check_site(sites.here);
  EXPECT_EQ(row_of(checks, "network").finding, Finding::note);
  EXPECT_TRUE(std::ranges::none_of(checks, [](const auto& c) { return c.subject == "member there"; }));
}

TEST(SiteCheck, FindsAllThatIsWrongOnThisMachineAtOnce) {
  TwoSites sites;
  const auto checks = check_site(sites.here, {.timeout_seconds = 20});
  EXPECT_EQ(row_of(checks, "key").finding, Finding::good);
  EXPECT_EQ(row_of(checks, "pictures").finding, Finding::file_problem) << "none are named";
  EXPECT_EQ(row_of(checks, "model").finding, Finding::file_problem) << "of other weights";
  EXPECT_EQ(row_of(checks, "disk").finding, Finding::good);
}

}  // namespace
}  // namespace dfrost
