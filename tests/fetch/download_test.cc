// Downloads against a server of our own on the loopback (http_server.py); no other network is touched.
#include "fetch/download.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <set>
#include <thread>

#include "base/file.h"
#include "data/catalog.h"
#include "fetch/http_get.h"
#include "fetch/program.h"
#include "fetch/sources.h"
#include "fetch/unpack.h"
#include "support/support.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kContentBytes = 200'000;

std::string content() {
  std::string bytes(kContentBytes, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>((i * i + 7 * i) % 251);
  return bytes;
}

class Downloads : public testing::Test {
 protected:
  void SetUp() override {
    const fs::path port_file = folder_ / "port";
    const std::string script = std::string(DFROST_SOURCE_DIR) + "/tests/fetch/http_server.py";
    server_ = ::fork();
    ASSERT_GE(server_, 0);
    if (server_ == 0) {
      ::execl(DFROST_PYTHON, DFROST_PYTHON, script.c_str(), port_file.c_str(), nullptr);
      ::_exit(127);
    }
    for (int i = 0; i < 600 && !fs::exists(port_file); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ASSERT_TRUE(fs::exists(port_file)) << "the test server did not start";
    base_ = fmt::format("http://127.0.0.1:{}/", read_text_file(port_file));
    write_file_atomically(folder_ / "content", content());
    sha256_ = file_digest(folder_ / "content", DigestKind::sha256);
  }
  void TearDown() override {
    ::kill(server_, SIGTERM);
    ::waitpid(server_, nullptr, 0);
  }

  RemoteFile file(const std::vector<std::string>& names, bool with_digest = true) const {
    RemoteFile remote{.name = "data.bin", .addresses = {}};
    for (const auto& name : names) remote.addresses.push_back(base_ + name);
    if (with_digest) remote.digest = {DigestKind::sha256, sha256_};
    return remote;
  }

  // The server's list of requests so far.
  std::string log() {
    fs::remove(folder_ / "log");
    http_get({.address = base_ + "log", .file = folder_ / "log"});
    return read_text_file(folder_ / "log");
  }

  Verified fetch(const RemoteFile& what, const DownloadOptions& options) const {
    fs::create_directories(target());
    return download_file(what, target(), options, FolderLock(target()));
  }

  fs::path target() const { return folder_ / "target"; }
  std::size_t files_left() const {
    return fs::exists(target())
               ? static_cast<std::size_t>(std::distance(fs::directory_iterator(target()), {}))
               : 0;
  }
  void expect_complete() const {
    EXPECT_EQ(read_text_file(target() / "data.bin"), content());
    EXPECT_FALSE(fs::exists(target() / "data.bin.part"));
  }

  test::TemporaryFolder folder_;
  std::string base_;
  std::string sha256_;
  pid_t server_ = -1;
};

TEST_F(Downloads, KeepAFileWhoseChecksumIsRightAndReportProgress) {
  std::size_t last = 0;
  DownloadOptions options;
  options.progress = [&](const DownloadProgress& progress) {
    EXPECT_GE(progress.done_bytes, last);
    last = progress.done_bytes;
    EXPECT_EQ(progress.total_bytes, kContentBytes);
  };
  EXPECT_EQ(fetch(file({"good"}), options), Verified::published);
  expect_complete();
  EXPECT_EQ(last, kContentBytes);
}

TEST_F(Downloads, ContinueAfterACutWithinOneCall) {
  EXPECT_EQ(fetch(file({"cut/2"}), {}), Verified::published);
  expect_complete();
  EXPECT_EQ(log(), "/cut/2\n/cut/2 bytes=60000-\n/cut/2 bytes=120000-");
}

TEST_F(Downloads, ContinueInALaterCallWhereAnEarlierOneGaveUp) {
  DownloadOptions once;
  once.attempts = 1;
  test::expect_error(ErrorCode::unavailable, "continues where it was cut off",
                     [&] { fetch(file({"cut/1"}), once); });
  EXPECT_EQ(fs::file_size(target() / "data.bin.part"), 60'000u);
  EXPECT_FALSE(fs::exists(target() / "data.bin"));
  EXPECT_EQ(fetch(file({"cut/1"}), once), Verified::published);
  expect_complete();
  EXPECT_EQ(log(), "/cut/1\n/cut/1 bytes=60000-");
}

TEST_F(Downloads, ContinueAtAnotherMirror) {
  DownloadOptions once;
  once.attempts = 1;
  EXPECT_EQ(fetch(file({"cut/1", "good"}), once), Verified::published);
  expect_complete();
  EXPECT_EQ(log(), "/cut/1\n/good bytes=60000-");
}

TEST_F(Downloads, BeginAgainWhereTheServerCannotContinue) {
  fs::create_directories(target());
  write_file_atomically(target() / "data.bin.part", content().substr(0, 1234));
  EXPECT_EQ(fetch(file({"no-range"}), {}), Verified::published);
  expect_complete();
}

TEST_F(Downloads, BeginAgainWhenWhatWasLeftBelongsToSomethingElse) {
  for (const std::size_t length : {std::size_t{1234}, kContentBytes, kContentBytes + 10}) {
    fs::remove_all(target());
    fs::create_directories(target());
    write_file_atomically(target() / "data.bin.part", std::string(length, 'x'));
    EXPECT_EQ(fetch(file({"good"}), {}), Verified::published) << length;
    expect_complete();
  }
}

TEST_F(Downloads, RefuseAWrongChecksumAndLeaveNothingBehind) {
  test::expect_error(ErrorCode::data_loss, sha256_, [&] { fetch(file({"wrong"}), {}); });
  EXPECT_EQ(files_left(), 0u);
}

TEST_F(Downloads, TryTheNextMirrorAfterAMissingOrAWrongFile) {
  EXPECT_EQ(fetch(file({"missing", "wrong", "good"}), {}), Verified::published);
  expect_complete();
  EXPECT_EQ(log(), "/missing\n/wrong\n/good");
}

TEST_F(Downloads, AskTheMirrorsThatAreNamedFirstAndHoldThemToTheSameChecksum) {
  DownloadOptions options;
  options.mirrors = {base_ + "lab", base_ + "campus/"};
  EXPECT_EQ(fetch(file({"good"}), options), Verified::published);
  expect_complete();
  EXPECT_EQ(log(), "/lab/data.bin");

  fs::remove_all(target());
  options.mirrors = {base_ + "wrong", base_ + "missing"};
  RemoteFile elsewhere = file({"good"});
  elsewhere.digest.hex.assign(kSha256Digits, '0');
  test::expect_error(ErrorCode::data_loss, "is not what it should be", [&] { fetch(elsewhere, options); });
  EXPECT_EQ(files_left(), 0u);
}

TEST_F(Downloads, SayWhatEachAddressAnsweredWhenNoneWorks) {
  RemoteFile nowhere = file({"missing"});
  nowhere.addresses.push_back("http://127.0.0.1:1/closed");
  test::expect_error(ErrorCode::unavailable, "missing (HTTP status 404); http://127.0.0.1:1/closed (",
                     [&] { fetch(nowhere, {}); });
  EXPECT_EQ(files_left(), 0u);
}

TEST_F(Downloads, StopAtAFullDiskAndLeaveNothingBehind) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto ignored = ::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 60'000, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  test::expect_error(ErrorCode::resource_exhausted, "make room", [&] { fetch(file({"good"}), {}); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, ignored);
  EXPECT_EQ(files_left(), 0u);
}

TEST_F(Downloads, WriteThroughNoLinkThatLiesWhereTheirPartGoes) {
  fs::create_directories(target());
  write_file_atomically(folder_ / "victim", "mine");
  fs::create_symlink(folder_ / "victim", target() / "data.bin.part");
  test::expect_error(ErrorCode::permission_denied, "data.bin.part", [&] { fetch(file({"good"}), {}); });
  EXPECT_EQ(read_text_file(folder_ / "victim"), "mine");
}

TEST_F(Downloads, FetchNothingThatIsAlreadyThereAndReplaceWhatIsDamaged) {
  fetch(file({"good"}), {});
  EXPECT_EQ(fetch(file({"good"}), {}), Verified::already_there);
  EXPECT_EQ(log(), "/good");
  write_file_atomically(target() / "data.bin", "damaged");
  EXPECT_EQ(fetch(file({"good"}), {}), Verified::published);
  expect_complete();
}

TEST_F(Downloads, TakeAnUnverifiableFileOnlyWhenAllowedAndRememberIt) {
  test::expect_error(ErrorCode::failed_precondition, "--allow-unverified",
                     [&] { fetch(file({"good"}, false), {}); });
  EXPECT_EQ(files_left(), 0u);
  DownloadOptions trusting;
  trusting.allow_unverified = true;
  EXPECT_EQ(fetch(file({"good"}, false), trusting), Verified::recorded_only);
  expect_complete();
  EXPECT_EQ(read_text_file(target() / "data.bin.sha256"), sha256_ + "  data.bin\n");
  fs::remove(target() / "data.bin");
  test::expect_error(ErrorCode::data_loss, sha256_, [&] { fetch(file({"wrong"}, false), trusting); });
}

TEST_F(Downloads, BelieveTheChecksumThatTheHostStates) {
  EXPECT_EQ(fetch(file({"stated"}, false), {}), Verified::stated_by_host);
  expect_complete();
  fs::remove_all(target());
  test::expect_error(ErrorCode::data_loss, "SHA-256", [&] { fetch(file({"stated-wrong"}, false), {}); });
  EXPECT_EQ(files_left(), 0u);
}

TEST_F(Downloads, DoNotBelieveAMirrorThatVouchesForItself) {
  DownloadOptions options;
  options.mirrors = {base_ + "stated-by-itself"};
  test::expect_error(ErrorCode::failed_precondition, "--allow-unverified",
                     [&] { fetch(file({}, false), options); });
  EXPECT_EQ(files_left(), 0u);
  // The authors' own host comes after it, and is believed.
  EXPECT_EQ(fetch(file({"stated"}, false), options), Verified::stated_by_host);
  fs::remove_all(target());
  // On trust, its checksum is recorded as nobody's.
  options.allow_unverified = true;
  EXPECT_EQ(fetch(file({}, false), options), Verified::recorded_only);
  EXPECT_TRUE(fs::exists(target() / "data.bin.sha256"));
}

TEST_F(Downloads, DoNotBelieveWhatOnlyTheHostStatesThatWasRedirectedTo) {
  test::expect_error(ErrorCode::failed_precondition, "--allow-unverified",
                     [&] { fetch(file({"to-one-who-states"}, false), {}); });
  EXPECT_EQ(files_left(), 0u);
}

TEST_F(Downloads, FollowNoRedirectFromASecureAddressToAnOpenOne) {
  for (int i = 0; i < 600 && !fs::exists(folder_ / "port.secure"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const auto get = [&](const std::string& address) {
    fs::remove(folder_ / "got");
    return http_get(
        {.address = address, .file = folder_ / "got", .authorities = folder_ / "port.certificate"});
  };
  const std::string secure = fmt::format("https://127.0.0.1:{}/", read_text_file(folder_ / "port.secure"));
  EXPECT_EQ(get(secure + "good").outcome, HttpOutcome::complete);
  EXPECT_EQ(get(secure + "redirect/" + secure + "good").outcome, HttpOutcome::complete);
  const auto opened = get(secure + "redirect/" + base_ + "good");
  EXPECT_EQ(opened.outcome, HttpOutcome::refused);
  EXPECT_EQ(fs::file_size(folder_ / "got"), 0u);
  EXPECT_EQ(get(base_ + "redirect/" + base_ + "good").outcome, HttpOutcome::complete) << "from an open one";
}

Source two_files(const std::vector<RemoteFile>& files) { return {.name = "set", .files = files}; }

TEST_F(Downloads, KeepTheirFolderFromEachOther) {
  fs::create_directories(target());
  const FolderLock other_process(target());
  test::expect_error(ErrorCode::failed_precondition, "another process",
                     [&] { get_source(two_files({file({"good"})}), target(), SourceChoice::any, {}); });
  EXPECT_EQ(log(), "");
}

TEST_F(Downloads, LeaveAMarkWhereOnlySomeOfASetHasCome) {
  RemoteFile second = file({"missing"});
  second.name = "labels.bin";
  const auto get = [&] { get_source(two_files({file({"good"}), second}), target(), SourceChoice::any, {}); };
  test::expect_error(ErrorCode::unavailable, "labels.bin", get);
  EXPECT_TRUE(fs::exists(target() / "data.bin"));
  EXPECT_TRUE(fetch_was_cut(target()));
  second.addresses = {base_ + "good"};
  get();
  EXPECT_FALSE(fetch_was_cut(target()));
  EXPECT_EQ(files_left(), 2u);
  // Nothing that came leaves nothing.
  fs::remove_all(target());
  test::expect_error(ErrorCode::unavailable, "",
                     [&] { get_source(two_files({file({"missing"})}), target(), SourceChoice::any, {}); });
  EXPECT_EQ(files_left(), 0u);
}

TEST_F(Downloads, ClearAwayWhatKilledFetchesLeftAndNothingElse) {
  const auto leave = [&] {
    for (const char* folder : {".fetching-4711", ".unpacking-aB3xYz"}) {
      fs::create_directories(target() / folder / "deep");
      write_file_atomically(target() / folder / "deep/half.deb", std::string(1000, 'x'));
    }
    write_file_atomically(target() / "data.bin.0123456789abcdef.tmp", "half");
    write_file_atomically(target() / "data.bin.part", content().substr(0, 100));
    write_file_atomically(target() / "mine.part", "somebody's own");
  };
  leave();
  get_source(two_files({file({"good"})}), target(), SourceChoice::any, {});
  expect_complete();
  EXPECT_EQ(files_left(), 2u);
  EXPECT_EQ(log(), "/good bytes=100-");
  leave();
  {
    const FolderLock other_process(target());
    remove_leftovers_of_fetches(two_files({file({"good"})}), target());
    EXPECT_EQ(files_left(), 6u) << "somebody is at it";
  }
  remove_leftovers_of_fetches(two_files({file({"good"})}), target());
  EXPECT_EQ(files_left(), 2u);
}

TEST_F(Downloads, UnpackAnArchiveAndWriteTheConfigOfACheckpoint) {
  // The archive is served as "good" is not: make one on disk and let the "download" find it already there.
  const auto made =
      test::run_command(fmt::format("cd {0} && mkdir -p in/cifar && echo hello > in/cifar/a.bin && "
                                    "mkdir target && tar -czf target/set.tar.gz -C in cifar",
                                    folder_.path().string()));
  ASSERT_EQ(made.exit_code, 0) << made.output;
  const Source source{
      .name = "set",
      .files = {{.name = "set.tar.gz",
                 .addresses = {base_ + "missing"},
                 .digest = {DigestKind::sha256, file_digest(target() / "set.tar.gz", DigestKind::sha256)}}},
      .unpack_inside = "cifar",
      .config = "{}"};
  const auto report = get_source(source, target(), SourceChoice::any, {});
  EXPECT_EQ(report.how, "set.tar.gz (already there)");
  EXPECT_EQ(read_text_file(target() / "a.bin"), "hello\n");
  EXPECT_EQ(read_text_file(target() / "config.json"), "{}");
  EXPECT_EQ(files_left(), 2u);
}

TEST(UnpackArchive, WritesNothingOutsideItsFolderAndNoLinks) {
  const test::TemporaryFolder folder;
  const auto made = test::run_command(
      fmt::format("cd {} && mkdir in && echo evil > evil && cd in && echo fine > fine && ln -s /etc link && "
                  "tar -czPf ../a.tar.gz ../evil fine link",
                  folder.path().string()));
  ASSERT_EQ(made.exit_code, 0) << made.output;
  fs::remove(folder / "evil");
  unpack_archive(folder / "a.tar.gz", folder / "out");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "out"), {}), 1);
  EXPECT_EQ(read_text_file(folder / "out" / "fine"), "fine\n");
  EXPECT_FALSE(fs::exists(folder / "evil"));
}

TEST(UnpackArchive, LeavesNothingOfADamagedArchive) {
  const test::TemporaryFolder folder;
  const auto made = test::run_command(fmt::format(
      "cd {} && head -c 300000 /dev/urandom > noise && tar -czf a.tar.gz noise", folder.path().string()));
  ASSERT_EQ(made.exit_code, 0) << made.output;
  fs::resize_file(folder / "a.tar.gz", 150'000);
  test::expect_error(ErrorCode::data_loss, "a.tar.gz",
                     [&] { unpack_archive(folder / "a.tar.gz", folder / "out"); });
  EXPECT_TRUE(fs::is_empty(folder / "out"));
}

TEST(Sources, CoverEveryDataSetAndSayWhatMustBeDoneByHand) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(dataset_sources().size(), dataset_catalog().size());
  for (const auto& info : dataset_catalog())
    EXPECT_EQ(find_source(dataset_sources(), info.name, "data set").name, info.name);
  test::expect_error(ErrorCode::unimplemented, "train, valid and test, into " + folder.path().string(), [&] {
    get_source(find_source(dataset_sources(), "mmafedb", "data set"), folder.path(), SourceChoice::any, {});
  });
  test::expect_error(ErrorCode::invalid_argument, "did you mean 'deit-tiny'?",
                     [] { find_source(backbone_sources(), "deit-tyni", "checkpoint"); });
}

std::string_view host_of(std::string_view address) {
  const auto start = address.find("://") + 3;
  return address.substr(start, address.find('/', start) - start);
}

TEST(Sources, AskASecondHostForEveryFileWhoseChecksumIsKnown) {
  for (const auto sources : {dataset_sources(), backbone_sources()})
    for (const Source& source : sources)
      for (const RemoteFile& file : source.files) {
        std::set<std::string_view> hosts;
        for (const auto& address : file.addresses) hosts.insert(host_of(address));
        EXPECT_GE(hosts.size(), file.digest.empty() ? 1U : 2U) << source.name << ", " << file.name;
        EXPECT_EQ(std::set(file.addresses.begin(), file.addresses.end()).size(), file.addresses.size());
      }
}

TEST(RunProgram, PassesArgumentsAsTheyAreAndGivesOutputAndExitCode) {
  const auto result = run_program({"sh", "-c", "echo \"$1\"; echo err >&2; exit 3", "sh", "a 'b' $c"}, "/");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.output, "a 'b' $c\nerr\n");
  test::expect_error(ErrorCode::not_found, "no-such-program", [] { run_program({"no-such-program"}, "/"); });
}

}  // namespace
}  // namespace dfrost
