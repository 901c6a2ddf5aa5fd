// giflib, up to the first picture: what Pillow shows of a GIF before anything moves.

#include <gif_lib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>

#include "data/image_codec.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

// A code of 12 bits stands for a run of less than 4096 pixels.
constexpr std::size_t kMaxPixelsPerGifByte = 4096 * 8 / 12;

using Palette = std::array<std::array<std::uint8_t, 3>, 256>;

int on_gif_read(GifFileType* gif, GifByteType* out, int count) {
  auto& left = *static_cast<std::span<const std::byte>*>(gif->UserData);
  const std::size_t step = std::min(left.size(), static_cast<std::size_t>(count));
  if (step != 0) std::memcpy(out, left.data(), step);
  left = left.subspan(step);
  return static_cast<int>(step);
}

void close_gif(GifFileType* gif) { DGifCloseFile(gif, nullptr); }
using Gif = std::unique_ptr<GifFileType, decltype(&close_gif)>;

Error gif_error(int code) {
  const char* what = GifErrorString(code);
  return {ErrorCode::data_loss, what == nullptr ? "corrupt GIF data" : what};
}

void check_gif(const Gif& gif, int status) {
  if (status == GIF_ERROR) throw gif_error(gif->Error);
}

// Passes over one extension; what it says of transparency is kept.
void take_extension(const Gif& gif, std::optional<std::uint8_t>& transparent) {
  int code = 0;
  GifByteType* block = nullptr;
  check_gif(gif, DGifGetExtension(gif.get(), &code, &block));
  for (; block != nullptr; check_gif(gif, DGifGetExtensionNext(gif.get(), &block))) {
    if (code == GRAPHICS_EXT_FUNC_CODE && block[0] >= 4 && (block[1] & 1) != 0) transparent = block[4];
  }
}

// The transparent colour, if any. Afterwards gif->Image describes the first picture.
std::optional<std::uint8_t> go_to_first_picture(const Gif& gif) {
  std::optional<std::uint8_t> transparent;
  for (;;) {
    GifRecordType kind = UNDEFINED_RECORD_TYPE;
    check_gif(gif, DGifGetRecordType(gif.get(), &kind));
    if (kind == IMAGE_DESC_RECORD_TYPE) break;
    if (kind != EXTENSION_RECORD_TYPE) throw Error(ErrorCode::data_loss, "a GIF file without a picture");
    take_extension(gif, transparent);
  }
  check_gif(gif, DGifGetImageDesc(gif.get()));
  return transparent;
}

// Colours that the file does not give are greys, as in Pillow.
Palette colours_of(const GifFileType& gif) {
  Palette palette{};
  for (std::size_t i = 0; i < palette.size(); ++i) palette[i].fill(static_cast<std::uint8_t>(i));
  const ColorMapObject* map = gif.Image.ColorMap != nullptr ? gif.Image.ColorMap : gif.SColorMap;
  for (int i = 0; map != nullptr && i < std::min(map->ColorCount, 256); ++i) {
    const GifColorType& colour = map->Colors[i];
    palette[static_cast<std::size_t>(i)] = {colour.Red, colour.Green, colour.Blue};
  }
  return palette;
}

void read_frame(const Gif& gif, const Palette& palette, Image& image) {
  const GifImageDesc& frame = gif->Image;
  const auto left = static_cast<std::size_t>(frame.Left), top = static_cast<std::size_t>(frame.Top);
  const auto width = static_cast<std::size_t>(frame.Width), height = static_cast<std::size_t>(frame.Height);
  std::vector<GifPixelType> row(width);
  const auto read_rows = [&](std::size_t first, std::size_t step) {
    for (std::size_t y = first; y < height; y += step) {
      check_gif(gif, DGifGetLine(gif.get(), row.data(), static_cast<int>(width)));
      std::uint8_t* to = image.rgb.data() + 3 * ((top + y) * image.width + left);
      for (std::size_t x = 0; x < width; ++x, to += 3) std::copy_n(palette[row[x]].data(), 3, to);
    }
  };
  if (!frame.Interlace) return read_rows(0, 1);
  read_rows(0, 8);
  read_rows(4, 8);
  read_rows(2, 4);
  read_rows(1, 2);
}

}  // namespace

Image decode_gif(std::span<const std::byte> bytes) {
  int error = 0;
  auto left = bytes;
  const Gif gif(DGifOpen(&left, on_gif_read, &error), close_gif);
  if (gif == nullptr) throw gif_error(error);
  const auto transparent = go_to_first_picture(gif);
  const GifImageDesc& frame = gif->Image;
  if (frame.Width <= 0 || frame.Height <= 0) throw Error(ErrorCode::data_loss, "a picture without pixels");
  // A frame that does not fit makes the picture larger, as in Pillow.
  Image image =
      allocate_image({.width = static_cast<std::size_t>(std::max(gif->SWidth, frame.Left + frame.Width)),
                      .height = static_cast<std::size_t>(std::max(gif->SHeight, frame.Top + frame.Height)),
                      .file_bytes = bytes.size(),
                      .max_pixels_per_byte = kMaxPixelsPerGifByte});
  const Palette palette = colours_of(*gif);
  const auto& outside = palette[transparent.value_or(0)];
  for (std::size_t i = 0; i < image.rgb.size(); i += 3) std::copy_n(outside.data(), 3, image.rgb.data() + i);
  read_frame(gif, palette, image);
  return image;
}

}  // namespace dfrost
