// libpng reports an error by a longjmp out of whatever was called. So every function here that calls setjmp
// owns nothing that needs a destructor, and what must be freed belongs to a caller's object outside of the
// jump.

#include <png.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <new>

#include "data/image_codec.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

// Deflate turns one byte into at most 1032 (RFC 1951: two bits can stand for 258 bytes).
constexpr std::size_t kMaxDeflateRatio = 1032;

constexpr png_alloc_size_t kMaxChunkBytes = 1u << 20;

struct Message {
  std::array<char, 160> text{};
};

[[noreturn]] void on_error(png_structp png, png_const_charp what) {
  auto* message = static_cast<Message*>(png_get_error_ptr(png));
  std::snprintf(message->text.data(), message->text.size(), "%s", what);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

struct PngReader {
  explicit PngReader(std::span<const std::byte> bytes) : left(bytes) {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &message, on_error, on_warning);
    if (png != nullptr) info = png_create_info_struct(png);
    if (info == nullptr) {
      png_destroy_read_struct(&png, nullptr, nullptr);
      throw std::bad_alloc();
    }
  }
  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  std::span<const std::byte> left;  // what libpng has not read yet
  Message message;
  png_structp png = nullptr;
  png_infop info = nullptr;
};

void on_read(png_structp png, png_bytep out, std::size_t count) {
  auto& left = static_cast<PngReader*>(png_get_io_ptr(png))->left;
  if (count > left.size()) png_error(png, "the file is cut short");
  std::memcpy(out, left.data(), count);
  left = left.subspan(count);
}

// Up to the first byte of the picture itself. libpng has allocated nothing of the picture's size by then.
bool read_header(PngReader& reader) {
  if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
  png_set_read_fn(reader.png, &reader, on_read);
  png_set_user_limits(reader.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // allocate_image has a better message
  // Texts and profiles, of which a thousand may inflate to megabytes each, are passed over: none changes a
  // pixel, and of Exif png_orientation takes care.
  png_set_keep_unknown_chunks(reader.png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_set_chunk_malloc_max(reader.png, kMaxChunkBytes);
  png_read_info(reader.png, reader.info);
  return true;
}

// What lies after the picture (texts, the end mark) is not read: it cannot change a pixel. `row` is room for
// a row that is turned; an interlaced picture needs there what earlier passes left of it.
bool read_pixels(PngReader& reader, const StoredRows& rows, std::uint8_t* row) {
  if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
  png_set_palette_to_rgb(reader.png);
  png_set_expand_gray_1_2_4_to_8(reader.png);
  png_set_gray_to_rgb(reader.png);
  png_set_strip_16(reader.png);  // the high byte, as Pillow does for 16-bit colour
  png_set_strip_alpha(reader.png);
  const int passes = png_set_interlace_handling(reader.png);
  png_read_update_info(reader.png, reader.info);
  if (png_get_rowbytes(reader.png, reader.info) != rows.width() * 3)
    png_error(reader.png, "unexpected pixel layout");
  for (int pass = 0; pass < passes; ++pass) {
    for (std::size_t y = 0; y < rows.height(); ++y) {
      std::uint8_t* in_place = rows.in_place(y);
      if (in_place == nullptr && pass > 0) rows.get(y, row);
      png_read_row(reader.png, in_place != nullptr ? in_place : row, nullptr);
      if (in_place == nullptr) rows.put(y, row);
    }
  }
  return true;
}

struct Writer {
  Writer() : png(png_create_write_struct(PNG_LIBPNG_VER_STRING, &message, on_error, on_warning)) {
    if (png != nullptr) info = png_create_info_struct(png);
    if (info == nullptr) {
      png_destroy_write_struct(&png, nullptr);
      throw std::bad_alloc();
    }
  }
  ~Writer() { png_destroy_write_struct(&png, &info); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  Message message;
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::vector<std::byte> bytes;
};

bool append(std::vector<std::byte>& bytes, png_bytep data, std::size_t count) noexcept {
  try {
    const auto* first = reinterpret_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), first, first + count);
    return true;
  } catch (const std::bad_alloc&) {
    return false;  // an exception may not travel through C code
  }
}

void on_write(png_structp png, png_bytep data, std::size_t count) {
  if (!append(static_cast<Writer*>(png_get_io_ptr(png))->bytes, data, count)) png_error(png, "out of memory");
}

void on_flush(png_structp) {}

bool write_pixels(Writer& writer, const ImageView& image) {
  if (setjmp(png_jmpbuf(writer.png)) != 0) return false;
  png_set_write_fn(writer.png, &writer, on_write, on_flush);
  // Spelt out, so that a library's change of default does not change our files.
  png_set_compression_level(writer.png, 6);
  png_set_filter(writer.png, PNG_FILTER_TYPE_BASE, PNG_ALL_FILTERS);
  png_set_IHDR(writer.png, writer.info, static_cast<png_uint_32>(image.width),
               static_cast<png_uint_32>(image.height), 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(writer.png, writer.info);
  for (std::size_t y = 0; y < image.height; ++y) png_write_row(writer.png, image.rgb + y * image.width * 3);
  png_write_end(writer.png, nullptr);
  return true;
}

}  // namespace

Image decode_png(std::span<const std::byte> bytes, ExifOrientation exif) {
  PngReader reader(bytes);
  if (!read_header(reader)) throw Error(ErrorCode::data_loss, reader.message.text.data());
  const std::size_t pixel_bits =
      std::size_t{png_get_bit_depth(reader.png, reader.info)} * png_get_channels(reader.png, reader.info);
  const int orientation = exif == ExifOrientation::apply ? png_orientation(bytes) : kUpright;
  Image image = allocate_image({.width = png_get_image_width(reader.png, reader.info),
                                .height = png_get_image_height(reader.png, reader.info),
                                .file_bytes = bytes.size(),
                                .max_pixels_per_byte = kMaxDeflateRatio * 8 / pixel_bits,
                                .orientation = orientation});
  const StoredRows rows(image, orientation);
  std::vector<std::uint8_t> row(rows.width() * 3);
  if (!read_pixels(reader, rows, row.data())) throw Error(ErrorCode::data_loss, reader.message.text.data());
  return image;
}

std::vector<std::byte> encode_png(const ImageView& image) {
  if (image.width == 0 || image.height == 0 || std::max(image.width, image.height) > PNG_UINT_31_MAX) {
    throw Error(ErrorCode::invalid_argument, "a PNG file holds pictures of 1 to 2^31-1 pixels a side");
  }
  Writer writer;
  if (!write_pixels(writer, image)) throw Error(ErrorCode::internal, writer.message.text.data());
  return std::move(writer.bytes);
}

}  // namespace dfrost
