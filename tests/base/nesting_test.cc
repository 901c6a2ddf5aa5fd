// One limit of nesting, and the readers of base that a deep text could reach the stack of; those of the
// folders above have theirs beside them.
#include "base/nesting.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/json.h"
#include "base/safetensors.h"
#include "support/support.h"

namespace dfrost {
namespace {

std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

bool is_deep(const std::string& text, NestedText kind) {
  return line_nested_too_deep(text, kind).has_value();
}

TEST(Nesting, IsCountedInBracketsOutsideOfTexts) {
  const std::string most(kDeepestNesting, '['), closing(kDeepestNesting, ']');
  EXPECT_FALSE(is_deep(most + closing, NestedText::json));
  EXPECT_TRUE(is_deep("[" + most, NestedText::json));
  EXPECT_TRUE(is_deep("{\"a\":" + most, NestedText::json));
  EXPECT_FALSE(is_deep("[\"\\\\\\\"[[[" + most + "\"]", NestedText::json));
  EXPECT_FALSE(is_deep(repeated("[],", 1'000), NestedText::json));
  EXPECT_FALSE(is_deep(repeated("]", 1'000) + most, NestedText::json));
  EXPECT_EQ(line_nested_too_deep("[\n[\n" + most, NestedText::json), 3u);
}

TEST(Nesting, OfTomlIsThatOfItsDottedKeysToo) {
  const std::string dots = repeated("a.", kDeepestNesting);
  EXPECT_FALSE(is_deep(dots + "a = 1\n" + dots + "b = true\n", NestedText::toml));
  EXPECT_TRUE(is_deep(dots + "a.a = 1", NestedText::toml));
  EXPECT_TRUE(is_deep("[" + dots + "a]", NestedText::toml));
  EXPECT_TRUE(is_deep(repeated("a.b = {", 40), NestedText::toml));
  EXPECT_FALSE(is_deep("# " + dots + dots + "\nx = '''" + dots + "\n" + dots + "'''", NestedText::toml));
  EXPECT_FALSE(is_deep("y = \"" + dots + dots + "\"", NestedText::toml));
  EXPECT_FALSE(is_deep("x = [" + repeated("0.5, ", 1'000) + "]", NestedText::toml));
  EXPECT_TRUE(is_deep("x = '\ny = " + repeated("[", 100), NestedText::toml)) << "a text ends with its line";
}

TEST(Nesting, OfAnyDepthIsRefusedByTheReadersOfJson) {
  for (const std::size_t depth : {std::size_t{kDeepestNesting} + 1, std::size_t{500'000}}) {
    for (const auto& text : {std::string(depth, '['), std::string(depth, '[') + std::string(depth, ']'),
                             repeated("{\"a\":", depth) + "1" + std::string(depth, '}')}) {
      test::expect_error(ErrorCode::data_loss, "some.json, line 1", [&] { parse_json(text, "some.json"); });
      EXPECT_TRUE(parse_own_json(text).is_discarded());
    }
  }
  EXPECT_EQ(parse_own_json("[[1]]").dump(), "[[1]]");
  EXPECT_TRUE(parse_own_json("[[1]").is_discarded());
}

TEST(Nesting, OfASafetensorsHeaderIsRefused) {
  for (const std::string& header : {"{\"a\":" + std::string(500'000, '['), repeated("{\"a\":", 500'000),
                                    "{\"a\":{\"dtype\":\"F32\",\"shape\":" + std::string(500'000, '[')}) {
    std::string file(8, '\0');
    const std::uint64_t length = header.size();
    std::memcpy(file.data(), &length, sizeof length);
    file += header;
    test::expect_error(ErrorCode::data_loss, "a.safetensors",
                       [&] { parse_safetensors(std::as_bytes(std::span(file)), "a.safetensors"); });
  }
}

}  // namespace
}  // namespace dfrost
