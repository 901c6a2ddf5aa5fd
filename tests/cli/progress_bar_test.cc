#include "cli/progress_bar.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace dfrost::cli {
namespace {

// What a whole download of 100 steps prints.
std::string printed(bool terminal, std::size_t total) {
  std::FILE* file = std::tmpfile();
  ProgressBar bar(file, terminal);
  for (std::size_t done = 0; done <= 1'000'000; done += 10'000) {
    bar.show({.name = "set.tar.gz", .address = "", .done_bytes = done, .total_bytes = total});
  }
  bar.finish();
  std::string text;
  std::rewind(file);
  std::array<char, 4096> buffer{};
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), file)) > 0;)
    text.append(buffer.data(), got);
  std::fclose(file);
  return text;
}

TEST(ProgressBar, RedrawsOneLineOnATerminal) {
  const std::string text = printed(true, 1'000'000);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\r'), 101);
  EXPECT_TRUE(text.ends_with("[##############################] 1.0 MB of 1.0 MB\n"))
      << text.substr(text.size() - 80);
}

TEST(ProgressBar, PrintsALineEveryTenthWhenRedirected) {
  const std::string text = printed(false, 1'000'000);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 11);
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_NE(text.find("set.tar.gz: 500 kB of 1.0 MB\n"), std::string::npos) << text;
}

TEST(ProgressBar, ShowsTheAmountWhereTheTotalIsUnknown) { EXPECT_EQ(printed(false, 0), "set.tar.gz: 0 B\n"); }

TEST(FormatBytes, UsesTheUnitThatFits) {
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(12'345), "12 kB");
  EXPECT_EQ(format_bytes(170'052'171), "170.1 MB");
}

}  // namespace
}  // namespace dfrost::cli
