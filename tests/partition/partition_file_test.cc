#include "partition/partition_file.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "support/support.h"

namespace dfrost {
namespace {

TEST(PartitionFile, ReadsBackWhatItWrote) {
  const test::TemporaryFolder folder;
  const Partition partition{{{0, 3, 4}, {1}, {2, 5}}};
  write_partition(folder / "split.csv", partition);
  EXPECT_EQ(read_partition(folder / "split.csv", 6, 1).clients, partition.clients);
  EXPECT_EQ(read_text_file(folder / "split.csv").substr(0, 23), "picture,client\n0,0\n1,1\n");
}

TEST(PartitionFile, TakesLinesInAnyOrderAndFromWindows) {
  EXPECT_EQ(parse_partition("2,0\r\n0,1\r\n\r\n1,0", "split", 3, 1).clients,
            (std::vector<std::vector<std::size_t>>{{1, 2}, {0}}));
}

TEST(PartitionFile, NamesTheLineThatIsWrong) {
  const auto refused = [](ErrorCode code, std::string_view text, const std::string& part) {
    test::expect_error(code, part, [&] { parse_partition(text, "split.csv", 3, 1); });
  };
  refused(ErrorCode::data_loss, "0,0\n1,0\n1,1\n2,0\n", "line 3: picture 1 is named twice");
  refused(ErrorCode::data_loss, "0,0\n1,0\n", "picture 2 is given to nobody");
  refused(ErrorCode::data_loss, "0,0\n1,0\n3,0\n", "line 3: there is no picture 3");
  refused(ErrorCode::data_loss, "0,0\n1;0\n", "split.csv, byte 4");
  refused(ErrorCode::data_loss, "0,0\n1,-1\n", "is not two numbers");
  refused(ErrorCode::data_loss, "0,99999999\n", "client 99999999");
  refused(ErrorCode::failed_precondition, "0,0\n1,2\n2,0\n", "gives client 1 only 0");
}

}  // namespace
}  // namespace dfrost
