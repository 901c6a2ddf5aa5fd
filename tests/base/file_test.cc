#include "base/file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <set>

#include "base/file_fault.h"
#include "support/support.h"

namespace dfrost {
namespace {

TEST(WriteFileAtomically, LeavesTheNewContentAndNoTemporaryFile) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "a.txt", "one");
  write_file_atomically(folder / "a.txt", "two");
  EXPECT_EQ(read_text_file(folder / "a.txt"), "two");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(WriteFileAtomically, WritesPiecesOneAfterTheOtherOrNoneOfThem) {
  const test::TemporaryFolder folder;
  const std::string first = "one, ", second, third = "three";
  const std::array pieces = {std::as_bytes(std::span(first)), std::as_bytes(std::span(second)),
                             std::as_bytes(std::span(third))};
  write_file_atomically(folder / "a.txt", pieces);
  EXPECT_EQ(read_text_file(folder / "a.txt"), "one, three");
  int writes = 0;
  const ScopedFileFault full([&](FileChange change, const auto&) {
    const bool is_last = change == FileChange::write && ++writes == 3;
    return is_last ? FileVerdict{FileVerdict::Kind::fails, ENOSPC} : FileVerdict{};
  });
  test::expect_error(ErrorCode::resource_exhausted, "a.txt",
                     [&] { write_file_atomically(folder / "a.txt", FilePieces(pieces)); });
  EXPECT_EQ(writes, 3);
  EXPECT_EQ(read_text_file(folder / "a.txt"), "one, three");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(WriteFileAtomically, KeepsTheOldContentWhenTheDiskIsFull) {
  const test::TemporaryFolder folder;
  test::expect_error(ErrorCode::not_found, "no/such",
                     [&] { write_file_atomically(folder / "no/such/file", "x"); });
  write_file_atomically(folder / "a.txt", "old");
  const ScopedFileFault full([](FileChange change, const auto&) {
    return change == FileChange::write ? FileVerdict{FileVerdict::Kind::fails, ENOSPC} : FileVerdict{};
  });
  test::expect_error(ErrorCode::resource_exhausted, "a.txt",
                     [&] { write_file_atomically(folder / "a.txt", "new"); });
  EXPECT_EQ(read_text_file(folder / "a.txt"), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(WriteFileAtomically, WritesIntoNoFileThatSomebodyLaidInItsWay) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "victim", "mine");
  // The name that it had before names were made up.
  std::filesystem::create_symlink(folder / "victim", folder / fmt::format("a.txt.{}.tmp", ::getpid()));
  std::vector<std::string> names;
  const ScopedFileFault watch([&](FileChange change, const std::filesystem::path& path) {
    if (change == FileChange::create) {
      names.push_back(path.filename());
      // Somebody who guessed the first name well: a link under it must not be followed.
      if (names.size() == 1) std::filesystem::create_symlink(folder / "victim", path);
    }
    return FileVerdict{};
  });
  for (int i = 0; i < 3; ++i) write_file_atomically(folder / "a.txt", "new");
  EXPECT_EQ(read_text_file(folder / "victim"), "mine");
  EXPECT_EQ(read_text_file(folder / "a.txt"), "new");
  ASSERT_EQ(names.size(), 4u);
  EXPECT_EQ(std::set(names.begin(), names.end()).size(), 4u);
  for (const auto& name : names) EXPECT_TRUE(is_unfinished_file(name)) << name;
  for (const char* name : {"a.txt", "notes.tmp", "a.txt.4711.tmp", "a.0123456789abcdeg.tmp"})
    EXPECT_FALSE(is_unfinished_file(name)) << name;
}

TEST(FileFault, LeavesHalfOfAWriteAndTidiesNothingUpWhereTheProcessDies) {
  const test::TemporaryFolder folder;
  append_to_file(folder / "log", "one\n");
  bool dead = false;
  const ScopedFileFault fault([&](FileChange change, const auto&) {
    dead = dead || change == FileChange::write;
    return FileVerdict{dead ? FileVerdict::Kind::dies : FileVerdict::Kind::happens};
  });
  EXPECT_THROW(append_to_file(folder / "log", "two\n"), DiedInTest);
  EXPECT_EQ(read_text_file(folder / "log"), "one\ntw");
  dead = false;
  EXPECT_THROW(write_file_atomically(folder / "log", "three\n"), DiedInTest);
  EXPECT_EQ(read_text_file(folder / "log"), "one\ntw");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 2) << "and the temporary";
}

TEST(WorkFolder, IsNewForItsOwnerAloneAndGoneAfterwards) {
  const test::TemporaryFolder folder;
  {
    const WorkFolder one(folder.path(), ".work-"), two(folder.path(), ".work-");
    EXPECT_NE(one.path(), two.path());
    EXPECT_EQ(std::filesystem::status(one.path()).permissions(), std::filesystem::perms::owner_all);
    write_file_atomically(one.path() / "a", "x");
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(WriteFileAtomically, ReplacesWhatALinkLeadsToAndKeepsTheLink) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "real", "old");
  std::filesystem::create_symlink(folder / "real", folder / "link");
  write_file_atomically(folder / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_text_file(folder / "real"), "new");
}

TEST(WriteFileAtomically, WritesIntoAPipeInsteadOfReplacingIt) {
  const test::TemporaryFolder folder;
  const auto pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDWR);  // both ways: neither end waits for the other
  write_file_atomically(pipe, "through");
  std::string text(7, '\0');
  EXPECT_EQ(::read(reader, text.data(), text.size()), 7);
  ::close(reader);
  EXPECT_EQ(text, "through");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(FolderLock, IsHeldOnceAndLetGoOf) {
  const test::TemporaryFolder folder;
  {
    const FolderLock held(folder.path());
    test::expect_error(ErrorCode::failed_precondition, "another process", [&] { FolderLock(folder.path()); });
  }
  const FolderLock again(folder.path());
  test::expect_error(ErrorCode::not_found, "missing", [&] { FolderLock(folder / "missing"); });
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ReadTextFile, RefusesAFileAboveItsLimit) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "big", std::string(100, 'x'));
  test::expect_error(ErrorCode::data_loss, "100 bytes", [&] { read_text_file(folder / "big", 99); });
}

TEST(MappedFile, ShowsTheBytesAndSurvivesAMove) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "f", "abc");
  MappedFile first(folder / "f");
  const MappedFile second = std::move(first);
  ASSERT_EQ(second.bytes().size(), 3u);
  second.release(second.bytes());
  EXPECT_EQ(second.bytes()[2], std::byte{'c'});
}

TEST(MappedFile, NamesAMissingFileAndAFolder) {
  const test::TemporaryFolder folder;
  test::expect_error(ErrorCode::not_found, "missing", [&] { MappedFile(folder / "missing"); });
  test::expect_error(ErrorCode::not_found, "is a folder", [&] { MappedFile(folder.path()); });
}

TEST(ReadFileStart, IsTheWholeFileWhereThatIsShorter) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "f", "abcdef");
  EXPECT_EQ(read_file_start(folder / "f", 4), "abcd");
  EXPECT_EQ(read_file_start(folder / "f", 40), "abcdef");
}

// Without a writer, opening a pipe to read from it waits for one, for ever.
TEST(OnlyRegularFiles, AreReadAndAPipeIsRefusedAtOnce) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  test::expect_error(ErrorCode::not_found, "not a regular file", [&] { MappedFile(folder / "pipe"); });
  test::expect_error(ErrorCode::not_found, "not a regular file", [&] { read_text_file(folder / "pipe"); });
  test::expect_error(ErrorCode::not_found, "not a regular file",
                     [&] { read_file_start(folder / "pipe", 4); });
  test::expect_error(ErrorCode::not_found, "not a regular file", [&] { MappedFile("/dev/zero"); });
}

TEST(MappedFile, ShowsASmallFileAsItWasWhenOpenedWhateverHappensToIt) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "f", std::string(100'000, 'x'));
  const MappedFile file(folder / "f");
  std::filesystem::resize_file(folder / "f", 0);
  EXPECT_EQ(file.bytes()[99'999], std::byte{'x'});
  file.check();
}

// Before there was a guard, the read ended the process by SIGBUS.
TEST(MappedFile, OfALargeFileThatIsCutShortIsAnErrorAfterTheRead) {
  const test::TemporaryFolder folder;
  const auto path = folder / "large";
  write_file_atomically(path, "head");
  std::filesystem::resize_file(path, kReadAtOnceBytes + 123'456);
  MappedFile file(path);
  file.check();
  std::filesystem::resize_file(path, 8'192);
  const MappedFile moved = std::move(file);
  EXPECT_EQ(moved.bytes()[0], std::byte{'h'});
  moved.check();
  EXPECT_EQ(moved.bytes()[kReadAtOnceBytes], std::byte{0});
  test::expect_error(ErrorCode::data_loss, "cut short", [&] { moved.check(); });
  EXPECT_EQ(moved.bytes()[10'000], std::byte{0});
  EXPECT_EQ(moved.bytes()[0], std::byte{'h'});
  // The next one on its place begins anew.
  std::filesystem::resize_file(path, kReadAtOnceBytes + 1);
  const MappedFile again(path);
  EXPECT_EQ(again.bytes()[kReadAtOnceBytes], std::byte{0});
  again.check();
}

TEST(MappedFile, AnEmptyFileHasNoBytes) {
  const test::TemporaryFolder folder;
  write_file_atomically(folder / "empty", "");
  EXPECT_TRUE(MappedFile(folder / "empty").bytes().empty());
}

}  // namespace
}  // namespace dfrost
