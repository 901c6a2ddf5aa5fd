// Event files, read back by protobuf and crc32c of other makers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "records/event_file.h"
#include "support/support.h"

namespace dfrost {
namespace {

std::string read_back(const std::filesystem::path& path) {
  const auto result = test::run_command(fmt::format("'{}' '{}/tests/records/event_file_oracle.py' '{}'",
                                                    DFROST_PYTHON, DFROST_SOURCE_DIR, path.string()));
  EXPECT_EQ(result.exit_code, 0) << result.output;
  return result.output;
}

constexpr double kNow = 1.8e9;

TEST(EventFileOracle, IsReadByProtobufAndItsChecksumsHold) {
  const test::TemporaryFolder folder;
  const auto path = folder / "tensorboard/events.out.tfevents.dfrost";
  EventFile file(path, {}, 0);
  file.add(1, {{"loss/train", 1.5}, {"accuracy/masked", 0.25}}, kNow);
  file.add(300, {{"loss/train", 0.125}, {std::string(200, 'x'), -1e-7}}, kNow + 1);
  EXPECT_EQ(read_back(path), fmt::format("1 loss/train=1.5 accuracy/masked=0.25\n"
                                         "300 loss/train=0.125 {}=-1e-07\n",
                                         std::string(200, 'x')));
}

TEST(EventFileOracle, HoldsEveryRoundOnceAfterResumptionsAndATornWrite) {
  const test::TemporaryFolder folder;
  const auto path = folder / "events.out.tfevents.dfrost";
  {
    EventFile file(path, {}, 0);
    for (std::size_t round = 1; round <= 4; ++round) file.add(round, {{"loss/train", 0.5}}, kNow);
  }
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 3);
  const std::vector<nlohmann::ordered_json> records = {{{"round", 1}}, {{"round", 2}}};
  EventFile file(path, records, 2);  // from a checkpoint of round 2
  file.add(3, {{"loss/train", 0.25}}, kNow);
  EXPECT_EQ(read_back(path), "1 loss/train=0.5\n2 loss/train=0.5\n3 loss/train=0.25\n");
}

}  // namespace
}  // namespace dfrost
