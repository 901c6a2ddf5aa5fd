#include "data/image_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "base/file.h"
#include "base/random.h"
#include "support/support.h"

namespace dfrost {
namespace {

Image random_image(std::size_t width, std::size_t height, Seed seed) {
  RandomStream random(seed, "picture");
  Image image{width, height, std::vector<std::uint8_t>(width * height * 3)};
  for (auto& byte : image.rgb) byte = static_cast<std::uint8_t>(random.below(256));
  return image;
}

Image decode(const std::string& bytes) { return decode_image(std::as_bytes(std::span(bytes)), "some.file"); }

std::string png_bytes(const Image& image) {
  const test::TemporaryFolder folder;
  write_png(folder / "a.png", image.view());
  return read_text_file(folder / "a.png");
}

// The pictures of make_pictures.py, made once for the tests of this file.
class Pictures : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new test::TemporaryFolder;
    test::run_python("data/make_pictures.py", folder_->path().string());
  }
  static void TearDownTestSuite() { delete folder_; }

  static std::vector<std::filesystem::path> files() {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_->path())) {
      const auto ending = entry.path().extension();
      if (ending != ".rgb" && ending != ".stored") found.push_back(entry.path());
    }
    return found;
  }

  static inline test::TemporaryFolder* folder_ = nullptr;
};

// What Pillow makes of the picture stands beside it.
void expect_as_pillow(const std::filesystem::path& path, const char* ending, ExifOrientation exif) {
  SCOPED_TRACE(path.filename());
  const std::string expected = read_text_file(path.string() + ending);
  const Image image = read_image(path, exif);
  std::uint32_t size[2];
  std::memcpy(size, expected.data(), sizeof size);
  ASSERT_EQ(image.width, size[0]);
  ASSERT_EQ(image.height, size[1]);
  EXPECT_EQ(std::memcmp(image.rgb.data(), expected.data() + sizeof size, image.rgb.size()), 0);
}

TEST_F(Pictures, OfEveryKindDecodeToTheBytesOfPillowTurnedUpright) {
  ASSERT_EQ(files().size(), 113u);
  for (const auto& path : files()) expect_as_pillow(path, ".rgb", ExifOrientation::apply);
}

TEST_F(Pictures, AreLeftAsStoredWhereThatIsAskedFor) {
  for (const auto& path : files()) expect_as_pillow(path, ".stored", ExifOrientation::ignore);
}

// Cut anywhere before its end (a PNG: before the end of its pixels), a picture is refused, by name. Exif may
// follow the pixels of a PNG.
TEST_F(Pictures, CutShortAreRefused) {
  for (const auto& path : files()) {
    SCOPED_TRACE(path.filename());
    const std::string whole = read_text_file(path);
    if (path.filename() == "animated.gif") continue;  // what follows the first frame is not read
    const std::size_t end_chunk = path.extension() == ".png" ? 12 + 60 : path.extension() == ".gif" ? 1 : 0;
    RandomStream random(3, "cut");
    for (int repeat = 0; repeat < 60; ++repeat) {
      const std::string part = whole.substr(0, random.below(whole.size() - end_chunk));
      try {
        decode(part);
        ADD_FAILURE() << "accepted " << part.size() << " of " << whole.size() << " bytes";
      } catch (const Error& error) {
        EXPECT_EQ(error.place(), "some.file");
      }
    }
  }
}

// Whatever the damage: a picture or an Error. (Under AddressSanitizer this also looks for leaks.)
TEST_F(Pictures, DamagedNeverDoWorseThanAnError) {
  std::size_t refused = 0;
  for (const auto& path : files()) {
    const std::string whole = read_text_file(path);
    RandomStream random(4, "damage");
    for (int repeat = 0; repeat < 40; ++repeat) {
      std::string damaged = whole;
      for (int flips = 0; flips < 3; ++flips) {
        damaged[random.below(damaged.size())] = static_cast<char>(random.below(256));
      }
      try {
        decode(damaged);
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 100u);
}

TEST(WritePng, IsReadBackAsItWasAndIsTheSameFileEachTime) {
  for (const auto& [width, height] : {std::pair<std::size_t, std::size_t>{1, 1}, {17, 3}, {64, 200}}) {
    const Image image = random_image(width, height, width);
    const std::string bytes = png_bytes(image);
    EXPECT_EQ(bytes, png_bytes(image));
    const Image again = decode(bytes);
    EXPECT_EQ(again.width, width);
    EXPECT_EQ(again.height, height);
    EXPECT_EQ(again.rgb, image.rgb);
  }
}

TEST(WritePng, RefusesAPictureWithoutPixels) {
  const test::TemporaryFolder folder;
  test::expect_error(ErrorCode::invalid_argument, "pixels", [&] { write_png(folder / "a.png", {}); });
}

// Puts a size into the header of a PNG and makes the header's checksum right again.
std::string announce_size(std::string png, std::uint32_t width, std::uint32_t height) {
  const auto put = [&](std::size_t at, std::uint32_t value) {
    for (int i = 0; i < 4; ++i) png[at + i] = static_cast<char>(value >> (24 - 8 * i));
  };
  put(16, width);
  put(20, height);
  std::uint32_t crc = ~0u;
  for (std::size_t i = 12; i < 29; ++i) {
    crc ^= static_cast<std::uint8_t>(png[i]);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320u : 0u);
  }
  put(29, ~crc);
  return png;
}

TEST(DecodeImage, RefusesABombBeforeItTakesMemory) {
  const std::string png = png_bytes(random_image(2, 2, 1));
  test::expect_error(ErrorCode::unimplemented, "2147483647x2147483647 pixels",
                     [&] { decode(announce_size(png, 0x7fffffff, 0x7fffffff)); });
  test::expect_error(ErrorCode::unimplemented, "64 million", [&] { decode(announce_size(png, 8193, 8192)); });
  // One row or column of millions of pixels would cost the resize gigabytes.
  test::expect_error(ErrorCode::unimplemented, "1x16777216 pixels, more than the 65535 a side",
                     [&] { decode(announce_size(png, 1, 1 << 24)); });
  // Under the limit, but no file so short can hold it.
  test::expect_error(ErrorCode::data_loss, "cannot hold", [&] { decode(announce_size(png, 8192, 8192)); });
  test::expect_error(ErrorCode::data_loss, "some.file", [&] { decode(announce_size(png, 0, 5)); });
}

TEST(DecodeImage, SaysWhatItCannotRead) {
  test::expect_error(ErrorCode::data_loss, "empty", [] { decode(""); });
  test::expect_error(ErrorCode::unimplemented, "neither a PNG", [] { decode("%PDF-1.4"); });
  test::expect_error(ErrorCode::unimplemented, "HEIC is not read", [] {
    decode(
        std::string("\0\0\0\x18"
                    "ftypheic",
                    12));
  });
  test::expect_error(ErrorCode::data_loss, "some.file", [] { decode("GIF89a..."); });
  test::expect_error(ErrorCode::data_loss, "some.file", [] { decode("RIFF....WEBP"); });
  test::expect_error(ErrorCode::data_loss, "some.file", [] { decode("\x89PNG\r\n\x1a\n"); });
  test::expect_error(ErrorCode::data_loss, "some.file", [] { decode("\xff\xd8\xff"); });
}

TEST(ReadImage, NamesAMissingFile) {
  test::expect_error(ErrorCode::not_found, "no/such.png", [] { read_image("no/such.png"); });
}

}  // namespace
}  // namespace dfrost
