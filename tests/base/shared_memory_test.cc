#include "base/shared_memory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "dfrost/error.h"
#include "support/support.h"

namespace dfrost {
namespace {

constexpr std::size_t kBytes = 10'000;  // no whole number of pages

bool holds(const std::shared_ptr<std::byte>& piece, int value) {
  return std::all_of(piece.get(), piece.get() + kBytes,
                     [&](std::byte byte) { return byte == static_cast<std::byte>(value); });
}

TEST(SharedMemory, ShowsAnotherProcessWhatItsMakerWrote) {
  SharedMemory made;
  const auto first = made.add(kBytes), second = made.add(kBytes);
  EXPECT_TRUE(holds(second.data, 0));
  std::memset(first.data.get(), 1, kBytes);
  std::memset(second.data.get(), 2, kBytes);
  const pid_t child = ::fork();
  if (child == 0) {
    const SharedMemory opened(made.address());
    const bool right =
        holds(opened.at(first.offset, kBytes), 1) && holds(opened.at(second.offset, kBytes), 2);
    ::_exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(SharedMemory, IsOneMemoryAndNoCopy) {
  SharedMemory made;
  const auto piece = made.add(kBytes);
  const auto seen = SharedMemory(made.address()).at(piece.offset, kBytes);
  std::memset(piece.data.get(), 7, kBytes);
  EXPECT_TRUE(holds(seen, 7));
}

TEST(SharedMemory, KeepsAPieceThatSomebodyHoldsWhenItIsGone) {
  std::optional<SharedMemory> made(std::in_place);
  const auto piece = made->add(kBytes);
  std::memset(piece.data.get(), 3, kBytes);
  made.reset();
  EXPECT_TRUE(holds(piece.data, 3));
}

TEST(SharedMemory, IsNotTakenForAnothers) {
  std::optional<SharedMemory> made(std::in_place);
  auto address = made->address();
  ++address.token;
  test::expect_error(ErrorCode::unavailable, "it is another's", [&] { SharedMemory{address}; });
  --address.token;
  made.reset();
  test::expect_error(ErrorCode::unavailable, "cannot be reached", [&] { SharedMemory{address}; });
}

TEST(SharedMemory, HasNoPieceBeyondItsEnd) {
  SharedMemory made;
  const auto piece = made.add(kBytes);
  test::expect_error(ErrorCode::internal, "no such piece",
                     [&] { made.at(piece.offset, kBytes + (std::size_t{1} << 20)); });
}

}  // namespace
}  // namespace dfrost
