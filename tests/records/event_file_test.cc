#include "records/event_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "support/support.h"

namespace dfrost {
namespace {

TEST(EventFile, ComputesTheChecksumOfTheStandardsExamples) {
  // RFC 3720, B.4.
  EXPECT_EQ(crc32c(std::as_bytes(std::span("123456789").first(9))), 0xe3069283u);
  const std::vector<std::byte> zeros(32);
  EXPECT_EQ(crc32c(zeros), 0x8a9136aau);
}

TEST(EventFile, StartsAgainWhereNothingOfItIsGood) {
  const test::TemporaryFolder folder;
  const auto path = folder / "events.out.tfevents.dfrost";
  { EventFile fresh(path, 0); }
  const auto empty = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, 5);
  { EventFile again(path, 9); }
  EXPECT_EQ(std::filesystem::file_size(path), empty);
}

TEST(EventFile, GivesEveryFigureATagOfItsOwn) {
  RoundRecord record;
  record.evaluation.emplace();
  record.evaluation->domains = {{"mnist", 0.5, 0.25}, {"svhn", 0.125, 0.0625}};
  record.theory.emplace();
  const auto scalars = scalars_of(record);
  std::set<std::string> tags;
  for (const auto& [tag, value] : scalars) tags.insert(tag);
  EXPECT_EQ(tags.size(), scalars.size());
  EXPECT_TRUE(tags.contains("accuracy_masked_by_domain/svhn"));
  EXPECT_FALSE(tags.contains("merge/error"));  // nobody merged
  record.merge_error = record.off_index_mass = 0;
  EXPECT_EQ(scalars_of(record).size(), scalars.size() + 2);
}

}  // namespace
}  // namespace dfrost
