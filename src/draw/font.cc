#include "draw/font.h"

#include <algorithm>
#include <string_view>

namespace dfrost {
namespace {

// One digit a row, in base 32 (0-9, A-V), so that a row's five pixels are one letter: E is .###. and H is
// #...#.
constexpr std::array<std::string_view, 95> kGlyphs = {
    "000000000",  // space
    "444440400",  // !
    "AA0000000",  // "
    "AAVAVAA00",  // #
    "4FKE5U400",  // $
    "OP248J300",  // %
    "CIK8LID00",  // &
    "440000000",  // '
    "248884200",  // (
    "842224800",  // )
    "04LEL4000",  // *
    "044V44000",  // +
    "00000C480",  // ,
    "000V00000",  // -
    "00000CC00",  // .
    "01248G000",  // /
    "EHJLPHE00",  // 0
    "4C4444E00",  // 1
    "EH168GV00",  // 2
    "EH161HE00",  // 3
    "26AIV2200",  // 4
    "VGU11HE00",  // 5
    "68GUHHE00",  // 6
    "V12488800",  // 7
    "EHHEHHE00",  // 8
    "EHHF12C00",  // 9
    "0CC0CC000",  // :
    "0CC0CC480",  // ;
    "248G84200",  // <
    "00V0V0000",  // =
    "842124800",  // >
    "EH1240400",  // ?
    "EH1DLLE00",  // @
    "EHHVHHH00",  // A
    "UHHUHHU00",  // B
    "EHGGGHE00",  // C
    "UHHHHHU00",  // D
    "VGGUGGV00",  // E
    "VGGUGGG00",  // F
    "EHGNHHF00",  // G
    "HHHVHHH00",  // H
    "E44444E00",  // I
    "72222IC00",  // J
    "HIKOKIH00",  // K
    "GGGGGGV00",  // L
    "HRLLHHH00",  // M
    "HPLJHHH00",  // N
    "EHHHHHE00",  // O
    "UHHUGGG00",  // P
    "EHHHLID00",  // Q
    "UHHUKIH00",  // R
    "FGGE11U00",  // S
    "V44444400",  // T
    "HHHHHHE00",  // U
    "HHHHHA400",  // V
    "HHHLLRH00",  // W
    "HHA4AHH00",  // X
    "HHA444400",  // Y
    "V1248GV00",  // Z
    "E88888E00",  // [
    "0G8421000",  // backslash
    "E22222E00",  // ]
    "4AH000000",  // ^
    "000000V00",  // _
    "842000000",  // `
    "00E1FHF00",  // a
    "GGUHHHU00",  // b
    "00EHGHE00",  // c
    "11FHHHF00",  // d
    "00EHVGE00",  // e
    "698S88800",  // f
    "00FHHHF1E",  // g
    "GGUHHHH00",  // h
    "40C444E00",  // i
    "2062222IC",  // j
    "GGIKOKI00",  // k
    "C44444E00",  // l
    "00QLLLL00",  // m
    "00UHHHH00",  // n
    "00EHHHE00",  // o
    "00UHHHUGG",  // p
    "00FHHHF11",  // q
    "00MPGGG00",  // r
    "00FGE1U00",  // s
    "88S889600",  // t
    "00HHHHF00",  // u
    "00HHHA400",  // v
    "00HHLLA00",  // w
    "00HA4AH00",  // x
    "00HHHHF1E",  // y
    "00V248V00",  // z
    "244844200",  // {
    "444444400",  // |
    "844244800",  // }
    "008L20000",  // ~
};

constexpr std::string_view kBox = "VHHHHHV00";

// U+00C0 to U+017F, each by the letter it is made from.
constexpr char32_t kFirstFolded = 0xC0;
constexpr std::string_view kFolded =
    "AAAAAAACEEEEIIIIDNOOOOOxOUUUUYPsaaaaaaaceeeeiiiidnooooo/ouuuuypy"
    "AaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGgGgGgHhHhIiIiIiIiIiJjJjKkkLlLlLlLlLl"
    "NnNnNnnNnOoOoOoOoRrRrRrSsSsSsSsTtTtTtUuUuUuUuUuUuWwYyYZzZzZzs";
static_assert(kFolded.size() == 0x180 - kFirstFolded);

constexpr char32_t kNoCharacter = 0xFFFD;

// The character that `text` begins with; `length` is the number of its bytes.
char32_t first_character(std::string_view text, std::size_t& length) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t more = byte(0) < 0xC0 ? 0 : byte(0) < 0xE0 ? 1 : byte(0) < 0xF0 ? 2 : 3;
  length = 1;
  if (byte(0) < 0x80) return byte(0);
  if (more == 0 || more >= text.size()) return kNoCharacter;
  char32_t character = byte(0) & (0x3Fu >> more);
  for (std::size_t i = 1; i <= more; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return kNoCharacter;
    character = character << 6 | (byte(i) & 0x3Fu);
  }
  length = more + 1;
  return character;
}

bool is_accent(char32_t character) { return character >= 0x300 && character < 0x370; }

std::string_view rows_of(char32_t character) {
  if (character >= kFirstFolded && character < kFirstFolded + kFolded.size())
    character = static_cast<unsigned char>(kFolded[character - kFirstFolded]);
  return character >= ' ' && character <= '~' ? kGlyphs[character - ' '] : kBox;
}

constexpr std::uint8_t row_of(char digit) {
  return static_cast<std::uint8_t>(digit <= '9' ? digit - '0' : digit - 'A' + 10);
}

}  // namespace

std::vector<Glyph> glyphs_of(std::string_view text) {
  std::vector<Glyph> glyphs;
  for (std::size_t length = 0; !text.empty(); text.remove_prefix(length)) {
    const char32_t character = first_character(text, length);
    if (is_accent(character)) continue;
    Glyph& glyph = glyphs.emplace_back();
    std::ranges::transform(rows_of(character), glyph.begin(), row_of);
  }
  return glyphs;
}

}  // namespace dfrost
