#include "network/letter_pool.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace dfrost {
namespace {

TEST(LetterPool, GivesOutAgainTheMemoryOfALetterThatAllHaveRead) {
  const LetterPool pool;
  auto letter = pool.take();
  letter->resize(5000);
  const std::byte* memory = letter->data();
  auto reader = letter;
  letter.reset();
  const auto other = pool.take();
  EXPECT_EQ(other->capacity(), 0u) << "the first is still being read";
  reader.reset();
  const auto again = pool.take();
  EXPECT_TRUE(again->empty());
  again->resize(5000);
  EXPECT_EQ(again->data(), memory);
}

TEST(LetterPool, KeepsNoLargeLetters) {
  const LetterPool pool;
  pool.take()->resize(LetterPool::kLargestKept + 1);
  EXPECT_EQ(pool.take()->capacity(), 0u);
}

TEST(LetterPool, MayBeGoneBeforeItsLetters) {
  auto pool = std::make_unique<LetterPool>();
  const auto letter = pool->take();
  pool.reset();
  letter->resize(10);
  EXPECT_EQ(letter->size(), 10u);
}

}  // namespace
}  // namespace dfrost
