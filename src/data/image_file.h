// Picture files: PNG and JPEG in (told apart by their first bytes, not by their names), PNG out.
// The bytes are those of Pillow's Image.open(file).convert("RGB"): alpha dropped, grey repeated, CMYK as
// Adobe writes it, no rotation by EXIF, no colour management. One exception: 16-bit grey is scaled to 8 bits,
// where Pillow turns everything above 255 white. Safe on hostile files: a damaged, truncated or oversized one
// is an Error that names it, and memory is only taken once the file is long enough to hold the picture it
// announces.
#pragma once

#include <cstddef>
#include <filesystem>

#include "dfrost/image.h"

namespace dfrost {

// Pictures above this are refused before anything is allocated for them.
inline constexpr std::size_t kMaxImagePixels = std::size_t{64} << 20;

// The same picture always gives the same file (for one version of zlib).
void write_png(const std::filesystem::path& path, const ImageView& image);

}  // namespace dfrost
