#include "base/safetensors.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "support/support.h"

namespace dfrost {
namespace {

std::vector<std::byte> bytes_of(std::string_view header, std::size_t data_bytes) {
  std::vector<std::byte> bytes(8 + header.size() + data_bytes);
  const std::uint64_t length = header.size();
  std::memcpy(bytes.data(), &length, 8);
  std::memcpy(bytes.data() + 8, header.data(), header.size());
  return bytes;
}

void expect_refused(std::string_view header, std::size_t data_bytes, const std::string& text,
                    ErrorCode code = ErrorCode::data_loss) {
  SCOPED_TRACE(header.substr(0, 200));
  test::expect_error(code, text, [&] { parse_safetensors(bytes_of(header, data_bytes), "here"); });
}

TEST(Safetensors, ReadsEveryFloatTypeThatAnotherWriterStored) {
  const test::TemporaryFolder folder;
  test::run_python("base/safetensors_oracle.py", "write " + (folder / "x.safetensors").string());
  const SafetensorsFile file(folder / "x.safetensors");
  const auto& content = file.content();
  EXPECT_EQ(content.metadata.at("format"), "pt");
  const auto halves = read_floats(content.at("z.halves"), "z.halves");
  const auto expected = read_floats(content.at("halves as floats"), "halves as floats");
  ASSERT_EQ(halves.size(), expected.size());
  for (std::size_t i = 0; i < halves.size(); ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(halves[i])) << i;
    } else {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(halves[i]), std::bit_cast<std::uint32_t>(expected[i])) << i;
    }
  }
  EXPECT_EQ(read_floats(content.at("brain"), ""), (std::vector<float>{1.0f, -2.5f, 0.15625f, INFINITY}));
  EXPECT_EQ(read_floats(content.at("wide"), ""), std::vector<float>{0.1f});
  EXPECT_EQ(read_floats(content.at("unaligned"), ""), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(content.at("nothing").shape, (Shape{0, 5}));
  EXPECT_TRUE(content.at("count").shape.empty());
  test::expect_error(ErrorCode::unimplemented, "'count' holds I64",
                     [&] { read_floats(content.at("count"), "count"); });
}

TEST(Safetensors, WritesWhatAnotherReaderUnderstands) {
  const test::TemporaryFolder folder;
  const std::vector<float> a = {0, 1, 2, 3, 4, 5};
  const std::vector<float> b = {0.1f};
  const std::vector<FloatTensor> tensors = {{"naïve \"b\"", {}, b}, {"empty", {3, 0}, {}}, {"a", {2, 3}, a}};
  write_safetensors(folder / "x.safetensors", tensors, {{"format", "pt"}, {"é\"", "two\nlines"}});
  test::run_python("base/safetensors_oracle.py", "check " + (folder / "x.safetensors").string());
}

TEST(Safetensors, WritesTheSameBytesInWhateverOrderTensorsAreGiven) {
  const std::vector<float> values = {1, 2, 3};
  const std::vector<FloatTensor> one = {{"a", {3}, values}, {"b", {1}, std::span(values).first(1)}};
  const std::vector<FloatTensor> other = {one[1], one[0]};
  const auto bytes = serialize_safetensors(one);
  EXPECT_EQ(bytes, serialize_safetensors(other));
  EXPECT_EQ((bytes.size() - 16) % 8, 0u);  // 16 bytes of data after a padded header
  const auto content = parse_safetensors(bytes, "memory");
  EXPECT_EQ(read_floats(content.at("a"), "a"), values);
  EXPECT_EQ(parse_safetensors(serialize_safetensors({}), "memory").tensors.size(), 0u);
}

TEST(Safetensors, RefusesToWriteWhatCouldNotBeReadBack) {
  const std::vector<float> values = {1, 2, 3};
  const auto expect = [&](std::vector<FloatTensor> tensors, const std::string& text) {
    test::expect_error(ErrorCode::invalid_argument, text, [&] { serialize_safetensors(tensors); });
  };
  expect({{"a", {2}, values}}, "tensor 'a' has 3 values");
  expect({{"a", {3}, values}, {"a", {3}, values}}, "two tensors are called 'a'");
  expect({{"__metadata__", {3}, values}}, "__metadata__");
  expect({{"\xff", {3}, values}}, "UTF-8");
}

TEST(Safetensors, SuggestsTheNearestNameForAMissingTensor) {
  const std::vector<float> values = {1};
  const std::vector<FloatTensor> tensors = {{"images", {1}, values}};
  const auto bytes = serialize_safetensors(tensors);
  const auto content = parse_safetensors(bytes, "memory");
  test::expect_error(ErrorCode::not_found, "there is a tensor 'images'", [&] { content.at("image"); });
}

TEST(Safetensors, RefusesAFileTruncatedAtAnyByte) {
  const std::vector<float> values = {1, 2, 3, 4};
  const std::vector<FloatTensor> tensors = {{"a", {2}, std::span(values).first(2)}, {"b", {4}, values}};
  const auto bytes = serialize_safetensors(tensors, {{"k", "v"}});
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THROW(parse_safetensors(std::span(bytes).first(length), "cut"), Error) << length;
  }
}

TEST(Safetensors, RefusesALengthThatTheFileCannotHold) {
  auto bytes = bytes_of("{}", 0);
  for (const std::uint64_t length :
       {std::uint64_t{3}, std::uint64_t{100'000'001}, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    std::memcpy(bytes.data(), &length, 8);
    test::expect_error(ErrorCode::data_loss, "the header claims", [&] { parse_safetensors(bytes, "here"); });
  }
}

TEST(Safetensors, RefusesTensorsThatDoNotTileTheData) {
  const auto tensor = [](std::string_view name, int begin, int end) {
    return fmt::format(R"("{}":{{"dtype":"U8","shape":[{}],"data_offsets":[{},{}]}})", name, end - begin,
                       begin, end);
  };
  expect_refused("{" + tensor("a", 0, 4) + "," + tensor("b", 2, 6) + "}", 6,
                 "'b' begins at byte 2 of the data, expected 4");
  expect_refused("{" + tensor("a", 0, 4) + "," + tensor("b", 0, 4) + "}", 4, "overlaps");
  expect_refused("{" + tensor("a", 0, 4) + "," + tensor("b", 5, 6) + "}", 6, "hole");
  expect_refused("{" + tensor("a", 1, 4) + "}", 4, "'a' begins at byte 1 of the data, expected 0");
  expect_refused("{" + tensor("a", 0, 4) + "}", 5, "end at byte 4 of the data, expected 5");
  expect_refused("{" + tensor("a", 0, 4) + "}", 3, "truncated");
  expect_refused("{}", 1, "belong to none");
  EXPECT_NO_THROW(
      parse_safetensors(bytes_of("{" + tensor("b", 0, 4) + "," + tensor("a", 4, 4) + "}", 4), "fine"));
}

TEST(Safetensors, RefusesShapesThatAreNotTheirBytes) {
  const auto header = [](std::string_view dtype, std::string_view shape, std::string_view offsets) {
    return fmt::format(R"({{"a":{{"dtype":{},"shape":{},"data_offsets":{}}}}})", dtype, shape, offsets);
  };
  expect_refused(header("\"F32\"", "[2]", "[0,4]"), 4,
                 "tensor 'a': data_offsets span 4 bytes, expected 8 for F32 [2]");
  expect_refused(header("\"F32\"", "[4294967296,4294967296]", "[0,0]"), 0, "too large");
  expect_refused(header("\"F32\"", "[4611686018427387904]", "[0,0]"), 0, "too large");  // ·4 is 2^64
  expect_refused(header("\"F32\"", "[18446744073709551616]", "[0,0]"), 0, "list of sizes");
  expect_refused(header("\"F32\"", "[-1]", "[0,4]"), 4, "-1 in a list");
  expect_refused(header("\"F32\"", "[1.0]", "[0,4]"), 4, "1.0");
  expect_refused(header("\"F32\"", "[[1]]", "[0,4]"), 4, "an array");
  expect_refused(header("\"F32\"", "{}", "[0,4]"), 4, "an object");
  expect_refused(header("\"F32\"", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,4]"), 4, "more than 16");
  expect_refused(header("\"F32\"", "[1]", "[0]"), 4, "has 1 numbers, expected 2");
  expect_refused(header("\"F32\"", "[1]", "[0,4,4]"), 4, "has 3 numbers, expected 2");
  expect_refused(header("\"F32\"", "[1]", "[4,0]"), 4, "do not lie in");
  expect_refused(header("\"F32\"", "[1]", "[18446744073709551612,18446744073709551615]"), 4, "do not lie in");
  expect_refused(header("\"F33\"", "[1]", "[0,4]"), 4, "unknown dtype 'F33'", ErrorCode::unimplemented);
  expect_refused(header("32", "[1]", "[0,4]"), 4, "name of a dtype");
}

TEST(Safetensors, RefusesAHeaderThatIsNotAMapOfTensors) {
  const std::string a = R"("a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  expect_refused("{" + a + "," + a + "}", 0, "tensor 'a' appears twice");
  expect_refused(R"({"a":{"dtype":"U8","dtype":"U8","shape":[0],"data_offsets":[0,0]}})", 0,
                 "dtype appears twice");
  expect_refused(R"({"__metadata__":{"k":"v","k":"w"}})", 0, "'k' appears twice");
  expect_refused(R"({"__metadata__":{},"__metadata__":{}})", 0, "__metadata__ appears twice");
  expect_refused(R"({"__metadata__":{"k":1}})", 0, "expected only texts");
  expect_refused(R"({"__metadata__":[]})", 0, "expected an object");
  expect_refused(R"({"a":{"dtype":"U8","shape":[0]}})", 0, "data_offsets is missing");
  expect_refused(R"({"a":{"color":"U8"}})", 0, "unknown key 'color'");
  expect_refused(R"({"a":null})", 0, "null, expected an object");
  expect_refused("[]", 0, "begin with '{'");
  expect_refused("", 0, "begin with '{'");
  expect_refused("\xef\xbb\xbf{}", 0, "begin with '{'");
  expect_refused("{} {}", 0, "not valid JSON at its byte 4");
  expect_refused(std::string_view("{}\0garbage", 10), 0, "zero byte");
  expect_refused("{\"\xff\":{}}", 0, "not valid JSON");
  expect_refused("{" + a, 0, "not valid JSON");
}

TEST(Safetensors, RefusesDeepNestingAndEndlessNamesCheaply) {
  expect_refused(R"({"a":)" + std::string(1'000'000, '[') + "}", 0, "an array");
  std::string nested;
  for (int i = 0; i < 100'000; ++i) nested += R"({"a":)";
  expect_refused(nested, 0, "unknown key 'a'");
  const std::string name(1'000'000, 'n');
  try {
    parse_safetensors(bytes_of("{\"" + name + "\":1}", 0), "here");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_LT(std::strlen(error.what()), 300u);
    EXPECT_EQ(error.place(), "here");
  }
}

}  // namespace
}  // namespace dfrost
