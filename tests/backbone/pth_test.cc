#include "backbone/pth.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/random.h"
#include "support/support.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

// Everything that reading the archive can reach: the tensors' values too.
PthTensors read_all(std::span<const std::byte> bytes) {
  auto tensors = parse_pth(bytes, "archive");
  for (const auto& [name, tensor] : tensors) {
    std::vector<float> values(*element_count(tensor.shape));
    read_floats(tensor, name, values);
  }
  return tensors;
}

class HostilePth : public testing::Test {
 protected:
  void SetUp() override { test::run_python("backbone/hostile_pth.py", folder_.path().string()); }
  const test::TemporaryFolder folder_;
};

TEST_F(HostilePth, EachIsAnErrorThatSaysWhatIsWrong) {
  const auto expected = read_json_file(folder_ / "expected.json");
  EXPECT_GT(expected.size(), 80u);
  for (const auto& [name, text] : expected.items()) {
    SCOPED_TRACE(name);
    const MappedFile file(folder_ / name);
    try {
      read_all(file.bytes());
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      const std::string all = std::string(error.what()) + error.hint();
      EXPECT_NE(all.find(text.get<std::string>()), std::string::npos) << "'" << text << "' not in: " << all;
      EXPECT_LT(all.size(), 1000u);
      EXPECT_TRUE(error.code() == ErrorCode::data_loss || error.code() == ErrorCode::unimplemented);
    }
  }
  EXPECT_FALSE(fs::exists("pwned"));
}

TEST_F(HostilePth, GoodOnesAreReadWhateverTheirZip) {
  for (const auto* name : {"plain", "zip64", "zip64_local", "comment", "long_integer"}) {
    SCOPED_TRACE(name);
    const MappedFile file(folder_ / ("good/" + std::string(name) + ".pth"));
    const auto tensors = parse_pth(file.bytes(), "archive");
    ASSERT_EQ(tensors.at("a").shape, (Shape{2, 3}));
    std::vector<float> values(6);
    read_floats(tensors.at("a"), "a", values);
    EXPECT_EQ(values, (std::vector<float>{0, 1, 2, 3, 4, 5}));
  }
  const MappedFile file(folder_ / "good/transposed.pth");
  const auto tensors = parse_pth(file.bytes(), "archive");
  std::vector<float> values(6);
  read_floats(tensors.at("a"), "a", values);
  EXPECT_EQ(values, (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

TEST_F(HostilePth, AnArchiveTruncatedAtAnyByteIsAnError) {
  const MappedFile file(folder_ / "good/zip64.pth");
  for (std::size_t length = 0; length < file.bytes().size(); ++length) {
    // A copy of just that length, so that a read past its end is one past the end of an allocation.
    const std::vector<std::byte> cut(file.bytes().begin(),
                                     file.bytes().begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_THROW(read_all(cut), Error) << length;
  }
}

TEST_F(HostilePth, AnArchiveWithAnyByteChangedIsReadOrAnError) {
  const MappedFile file(folder_ / "good/zip64.pth");
  const std::vector<std::byte> good(file.bytes().begin(), file.bytes().end());
  RandomStream random(1, "flip");
  std::size_t refused = 0;
  for (std::size_t i = 0; i < 4 * good.size(); ++i) {
    auto changed = good;
    changed[i % good.size()] = static_cast<std::byte>(random.below(256));
    try {
      read_all(changed);
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, good.size());  // most of an archive this small is structure
}

}  // namespace
}  // namespace dfrost
