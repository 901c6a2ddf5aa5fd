#include "records/event_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "records/record_file.h"
#include "records/record_json.h"
#include "support/support.h"

namespace dfrost {
namespace {

TEST(EventFile, ComputesTheChecksumOfTheStandardsExamples) {
  // RFC 3720, B.4.
  EXPECT_EQ(crc32c(std::as_bytes(std::span("123456789").first(9))), 0xe3069283u);
  const std::vector<std::byte> zeros(32);
  EXPECT_EQ(crc32c(zeros), 0x8a9136aau);
}

// Lines of metrics.jsonl, as far as events are made of them.
std::vector<nlohmann::ordered_json> records_until(std::size_t rounds) {
  std::vector<nlohmann::ordered_json> records;
  for (std::size_t round = 1; round <= rounds; ++round) {
    RoundRecord record;
    record.round = round;
    record.train_loss = 1.0 / static_cast<double>(round);
    records.push_back(to_json(record));
  }
  return records;
}

TEST(EventFile, IsMadeAnewFromTheRecordsWhereAnEventIsMissingOrDamaged) {
  const test::TemporaryFolder folder;
  const auto path = folder / "events.out.tfevents.dfrost";
  const auto records = records_until(3);
  {
    EventFile fresh(path, {}, 0);
    EXPECT_FALSE(fresh.made_anew());
    for (const auto& record : records) fresh.add(record["round"], scalars_of(record), 0);
  }
  const auto whole = read_text_file(path);
  EXPECT_FALSE(EventFile(path, records, 3).made_anew());
  EXPECT_EQ(read_text_file(path), whole);
  // Half of it, one flipped bit in the middle, none of it, nothing at all.
  auto flipped = whole;
  flipped[whole.size() / 2] = static_cast<char>(flipped[whole.size() / 2] ^ 1);
  int number = 0;
  for (const auto& damaged :
       {whole.substr(0, whole.size() / 2), flipped, std::string("short"), std::string()}) {
    write_file_atomically(path, damaged);
    EXPECT_TRUE(EventFile(path, records, 3).made_anew());
    EXPECT_EQ(read_text_file(path).size(), whole.size());  // the times alone differ
    const auto aside = path.string() + kSetAside + (++number > 1 ? fmt::format(".{}", number) : "");
    EXPECT_EQ(read_text_file(aside), damaged);  // beside what was set aside before
  }
}

TEST(EventFile, KeepsEventsOfRoundsWhoseRecordsAreGone) {
  const test::TemporaryFolder folder;
  const auto path = folder / "events.out.tfevents.dfrost";
  std::string two;  // the file after two rounds
  {
    EventFile fresh(path, {}, 0);
    for (const auto& record : records_until(3)) {
      two = read_text_file(path);
      fresh.add(record["round"], scalars_of(record), 0);
    }
  }
  const auto whole = read_text_file(path);
  EXPECT_FALSE(EventFile(path, {}, 3).made_anew());
  EXPECT_EQ(read_text_file(path), whole);
  EXPECT_FALSE(EventFile(path, {}, 2).made_anew());  // the third is computed again
  EXPECT_EQ(read_text_file(path), two);
}

TEST(EventFile, GivesEveryFigureATagOfItsOwn) {
  RoundRecord record;
  record.evaluation.emplace();
  record.evaluation->domains = {{"mnist", 0.5, 0.25}, {"svhn", 0.125, 0.0625}};
  record.theory.emplace();
  const auto scalars = scalars_of(to_json(record));
  std::set<std::string> tags;
  for (const auto& [tag, value] : scalars) tags.insert(tag);
  EXPECT_EQ(tags.size(), scalars.size());
  EXPECT_TRUE(tags.contains("accuracy_masked_by_domain/svhn"));
  EXPECT_FALSE(tags.contains("merge/error"));  // nobody merged
  record.merge_error = record.off_index_mass = 0;
  EXPECT_EQ(scalars_of(to_json(record)).size(), scalars.size() + 2);
}

}  // namespace
}  // namespace dfrost
