#include "draw/canvas.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "base/file.h"
#include "draw/contact_sheet.h"
#include "draw/font.h"
#include "support/support.h"

namespace dfrost {
namespace {

std::size_t count_pixels(const Image& image, Color color) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < image.rgb.size(); i += 3) {
    count += image.rgb[i] == color.red && image.rgb[i + 1] == color.green && image.rgb[i + 2] == color.blue;
  }
  return count;
}

constexpr Color kWhite = {255, 255, 255};
constexpr Color kBlack = {0, 0, 0};

TEST(Font, HasADifferentLetterForEveryPrintableCharacter) {
  std::set<Glyph> glyphs;
  for (char letter = ' '; letter <= '~'; ++letter) glyphs.insert(glyphs_of({&letter, 1}).at(0));
  EXPECT_EQ(glyphs.size(), 95u);
}

TEST(Font, DrawsLatinLettersWithoutTheAccentsThatUnicodeSaysTheyAreMadeWith) {
  const test::TemporaryFolder folder;
  test::run_python("draw/latin_letters.py", (folder / "letters").string());
  std::istringstream lines(read_text_file(folder / "letters"));
  std::size_t letters = 0;
  for (std::string whole, base, decomposed; lines >> whole >> base >> decomposed; ++letters) {
    EXPECT_EQ(glyphs_of(whole), glyphs_of(base)) << whole;
    EXPECT_EQ(glyphs_of(decomposed), glyphs_of(base)) << whole;
  }
  EXPECT_GT(letters, 150u);
}

TEST(Font, HasOneBoxForAnyOtherCharacter) {
  const auto box = glyphs_of("\n");
  ASSERT_EQ(box.size(), 1u);
  for (const char* character : {"\u6f22", "\u0436", "\U0001F41D", "\xe9", "\xc3"}) {
    EXPECT_EQ(glyphs_of(character), box) << character;
  }
  EXPECT_EQ(glyphs_of("\u6f22\u5b57 a").size(), 4u);
  EXPECT_EQ(glyphs_of("\xe6\xbc").size(), 2u);  // cut off: a box per byte
}

TEST(Canvas, ClipsWhateverReachesBeyondItsEdges) {
  Image canvas = make_canvas(10, 8, kWhite);
  fill(canvas, {8, 6, 100, 100}, kBlack);
  EXPECT_EQ(count_pixels(canvas, kBlack), 4u);
  draw_text(canvas, 5, 5, "long text", 3, kBlack);
  fill(canvas, {50, 50, 1, 1}, kBlack);
}

TEST(Canvas, DrawsTextAsWideAsItSays) {
  for (const char* text : {"A", "il", "Hello, world"}) {
    Image canvas = make_canvas(300, 40, kWhite);
    draw_text(canvas, 0, 0, text, 2, kBlack);
    std::size_t last = 0;
    for (std::size_t i = 0; i < canvas.rgb.size() / 3; ++i) {
      if (canvas.rgb[3 * i] == 0) last = std::max(last, i % canvas.width);
    }
    EXPECT_EQ(last + 1, text_width(text, 2)) << text;
  }
}

TEST(Canvas, EnlargesSmallPicturesByAWholeFactorAndShrinksLargeOnes) {
  Image canvas = make_canvas(10, 10, kWhite);
  const Image dot{3, 3, std::vector<std::uint8_t>(27, 0)};
  draw_picture(canvas, dot.view(), {0, 0, 10, 10});
  EXPECT_EQ(count_pixels(canvas, kBlack), 81u);  // 3 times, not 10/3
  Image small = make_canvas(10, 10, kWhite);
  const Image large{40, 25, std::vector<std::uint8_t>(3 * 40 * 25, 0)};
  draw_picture(small, large.view(), {0, 0, 10, 10});
  EXPECT_EQ(count_pixels(small, kBlack), 100u);
}

TEST(ContactSheet, ShowsSamplesOfEveryClassInItsRow) {
  PictureSet set;
  set.records = uniform_records(40, 2, 2, PictureKind::grey);
  for (int i = 0; i < 40; ++i) {
    set.labels.push_back(i % 4);
    set.bytes.insert(set.bytes.end(), 4, static_cast<std::uint8_t>(10 * (i % 4) + 1));
  }
  const Image sheet =
      contact_sheet(set, {"a", "b", "c", "a class with quite a long name indeed"}, "title", {.columns = 5});
  for (std::uint8_t c = 0; c < 4; ++c) {
    const auto grey = static_cast<std::uint8_t>(10 * c + 1);
    EXPECT_EQ(count_pixels(sheet, {grey, grey, grey}), 5u * 64 * 64) << int{c};
  }
  EXPECT_EQ(contact_sheet(set, {"a", "b", "c", "d"}, "title").rgb,
            contact_sheet(set, {"a", "b", "c", "d"}, "title").rgb);
}

}  // namespace
}  // namespace dfrost
