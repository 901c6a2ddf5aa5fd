// Picture files: PNG, JPEG, WebP and GIF in (told apart by their first bytes, not by their names), PNG out.
// The bytes are those of Pillow's ImageOps.exif_transpose(Image.open(file)).convert("RGB"): alpha dropped,
// grey repeated, CMYK as Adobe writes it, the first frame of several, no colour management. One exception:
// 16-bit grey is scaled to 8 bits, where Pillow turns everything above 255 white. Safe on hostile files: a
// damaged, truncated or oversized one is an Error that names it, and memory is only taken once the file is
// long enough to hold the picture it announces.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "dfrost/image.h"

namespace dfrost {

// Pictures beyond these are refused before anything is allocated for them. No JPEG or GIF can have a longer
// side; a picture of one long row would cost the resize more than any photograph does.
inline constexpr std::size_t kMaxImageSide = 65'535;
inline constexpr std::size_t kMaxImagePixels = std::size_t{64} << 20;
// The pixels and what their decoder takes beside them (the coefficients of a progressive JPEG, say).
inline constexpr std::size_t kMaxDecodingBytes = std::size_t{240} << 20;

// Of the formats that are read: "PNG", "JPEG", "WebP", "GIF"; empty for anything else. Looks at the first
// kPictureMagicBytes alone.
inline constexpr std::size_t kPictureMagicBytes = 12;
std::string_view picture_format(std::span<const std::byte> bytes);

// The same picture always gives the same file (for one version of zlib).
void write_png(const std::filesystem::path& path, const ImageView& image);

}  // namespace dfrost
