// libjpeg-turbo, told to report errors by a longjmp into the step that called it. As in png_codec.cc, a
// function that calls setjmp owns nothing that needs a destructor.

#include <cstdio>  // jpeglib.h needs FILE

#include <jerror.h>
#include <jpeglib.h>

#include <array>
#include <csetjmp>
#include <cstring>
#include <string_view>

#include "data/image_codec.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

// Huffman coding spends at least one bit on every block of 8x8 pixels.
constexpr std::size_t kMaxPixelsPerByte = std::size_t{8} * 64;
// Encoders write about ten scans; thousands of empty ones would keep the decoder busy for minutes. Each goes
// over the whole picture, so a large one may have fewer.
constexpr std::size_t kMaxScans = 256;
constexpr std::size_t kUsualScans = 16;
constexpr std::size_t kMaxScannedPixels = std::size_t{1} << 30;

constexpr int kExifMarker = JPEG_APP0 + 1;
constexpr unsigned kWholeMarker = 0xffff;

struct JpegReader {
  JpegReader() = default;
  ~JpegReader() { jpeg_destroy_decompress(&jpeg); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf escape{};
  ErrorCode code = ErrorCode::data_loss;
  std::array<char, JMSG_LENGTH_MAX> message{};
};

JpegReader& reader_of(j_common_ptr jpeg) { return *static_cast<JpegReader*>(jpeg->client_data); }

[[noreturn]] void on_error(j_common_ptr jpeg) {
  JpegReader& reader = reader_of(jpeg);
  jpeg->err->format_message(jpeg, reader.message.data());
  switch (jpeg->err->msg_code) {
    case JERR_BAD_PRECISION:
    case JERR_SOF_UNSUPPORTED:
    case JERR_CONVERSION_NOTIMPL: reader.code = ErrorCode::unimplemented; break;
    default: break;
  }
  std::longjmp(reader.escape, 1);
}

// libjpeg warns, and invents the missing pixels, where we want to know that they are missing. Other warnings
// are about oddities that leave the picture whole.
void on_message(j_common_ptr jpeg, int level) {
  if (level >= 0) return;  // traces
  switch (jpeg->err->msg_code) {
    case JWRN_JPEG_EOF:
    case JWRN_HIT_MARKER:
    case JWRN_MUST_RESYNC:
    case JWRN_HUFF_BAD_CODE: on_error(jpeg);
    default: return;
  }
}

void on_output(j_common_ptr) {}

[[noreturn]] void refuse(JpegReader& reader, ErrorCode code, const char* what) {
  reader.code = code;
  std::snprintf(reader.message.data(), reader.message.size(), "%s", what);
  std::longjmp(reader.escape, 1);
}

void on_progress(j_common_ptr jpeg) {
  const auto* picture = reinterpret_cast<j_decompress_ptr>(jpeg);
  const auto scans = static_cast<std::size_t>(picture->input_scan_number);
  const std::size_t pixels = std::size_t{picture->image_width} * picture->image_height;
  if (scans > kMaxScans || (scans > kUsualScans && scans * pixels > kMaxScannedPixels)) {
    refuse(reader_of(jpeg), ErrorCode::data_loss, "more scans than a JPEG encoder writes");
  }
}

bool read_header(JpegReader& reader, std::span<const std::byte> bytes) {
  if (setjmp(reader.escape) != 0) return false;
  jpeg_decompress_struct& jpeg = reader.jpeg;
  jpeg.err = jpeg_std_error(&reader.errors);
  reader.errors.error_exit = on_error;
  reader.errors.emit_message = on_message;
  reader.errors.output_message = on_output;
  jpeg.client_data = &reader;
  jpeg_create_decompress(&jpeg);  // keeps err and client_data
  reader.progress.progress_monitor = on_progress;
  jpeg.progress = &reader.progress;
  jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_save_markers(&jpeg, kExifMarker, kWholeMarker);
  jpeg_read_header(&jpeg, TRUE);
  // Arithmetic coding spends far less than a bit on an empty block, so that a short file could ask for any
  // amount of memory; hardly anyone writes it.
  if (jpeg.arith_code) refuse(reader, ErrorCode::unimplemented, "arithmetic coding is not supported");
  if (jpeg.num_components == 2 || jpeg.num_components > 4) {
    refuse(reader, ErrorCode::unimplemented, "only grey, colour and CMYK pictures are supported");
  }
  return true;
}

// ink * light / 255, rounded as Pillow rounds it.
std::uint8_t absorb(int inverse_ink, int light) {
  const int product = (255 - inverse_ink) * light + 128;
  return static_cast<std::uint8_t>(light - (((product >> 8) + product) >> 8));
}

// Adobe's inverted CMYK, the only kind met in practice and the one that Pillow assumes.
void cmyk_to_rgb(const std::uint8_t* cmyk, std::size_t width, std::uint8_t* rgb) {
  for (std::size_t x = 0; x < width; ++x, cmyk += 4, rgb += 3) {
    for (int c = 0; c < 3; ++c) rgb[c] = absorb(cmyk[c], cmyk[3]);
  }
}

// As the first marker with Exif data says; others of that kind hold XMP.
int jpeg_orientation(const jpeg_decompress_struct& jpeg) {
  constexpr std::string_view kExif("Exif\0\0", 6);
  for (const auto* marker = jpeg.marker_list; marker != nullptr; marker = marker->next) {
    const auto data = std::as_bytes(std::span(marker->data, marker->data_length));
    if (marker->marker != kExifMarker || data.size() < kExif.size()) continue;
    if (std::memcmp(data.data(), kExif.data(), kExif.size()) == 0) return exif_orientation(data);
  }
  return kUpright;
}

// A picture of several scans is kept as coefficients, 2 bytes each, until the last.
std::size_t coefficient_bytes(jpeg_decompress_struct& jpeg) {
  if (!jpeg_has_multiple_scans(&jpeg)) return 0;
  std::size_t bytes = 0;
  for (int c = 0; c < jpeg.num_components; ++c) {
    const jpeg_component_info& component = jpeg.comp_info[c];
    bytes += std::size_t{component.width_in_blocks} * component.height_in_blocks * 2 * DCTSIZE2;
  }
  return bytes;
}

// `row` is room for one row that is turned, `cmyk_row` for one of a CMYK picture.
bool read_pixels(JpegReader& reader, const StoredRows& rows, std::uint8_t* row, std::uint8_t* cmyk_row) {
  if (setjmp(reader.escape) != 0) return false;
  jpeg_decompress_struct& jpeg = reader.jpeg;
  const bool cmyk = jpeg.num_components == 4;
  jpeg.out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
  jpeg_start_decompress(&jpeg);
  while (jpeg.output_scanline < jpeg.output_height) {
    const std::size_t y = jpeg.output_scanline;
    std::uint8_t* in_place = rows.in_place(y);
    std::uint8_t* rgb = in_place != nullptr ? in_place : row;
    JSAMPROW target = cmyk ? cmyk_row : rgb;
    jpeg_read_scanlines(&jpeg, &target, 1);
    if (cmyk) cmyk_to_rgb(cmyk_row, rows.width(), rgb);
    if (in_place == nullptr) rows.put(y, row);
  }
  jpeg_finish_decompress(&jpeg);
  return true;
}

}  // namespace

Image decode_jpeg(std::span<const std::byte> bytes, ExifOrientation exif) {
  JpegReader reader;
  if (!read_header(reader, bytes)) throw Error(reader.code, reader.message.data());
  const int orientation = exif == ExifOrientation::apply ? jpeg_orientation(reader.jpeg) : kUpright;
  Image image = allocate_image({.width = reader.jpeg.image_width,
                                .height = reader.jpeg.image_height,
                                .file_bytes = bytes.size(),
                                .max_pixels_per_byte = kMaxPixelsPerByte,
                                .decoder_bytes = coefficient_bytes(reader.jpeg),
                                .orientation = orientation});
  const StoredRows rows(image, orientation);
  std::vector<std::uint8_t> row(rows.width() * 3);
  std::vector<std::uint8_t> cmyk_row(reader.jpeg.num_components == 4 ? rows.width() * 4 : 0);
  if (!read_pixels(reader, rows, row.data(), cmyk_row.data()))
    throw Error(reader.code, reader.message.data());
  return image;
}

}  // namespace dfrost
