#include "data/picture_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>

#include "base/file.h"
#include "base/text.h"
#include "data/decoding_budget.h"
#include "data/image_file.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

// Up to 64×64 RGB, pixels cost little more than the file and need no decoding at every use.
constexpr std::size_t kKeepPixelsUpToBytes = std::size_t{64} * 64 * 3;
// Files decoded before they are packed together: bounds what is held twice.
constexpr std::size_t kFilesAtOnce = 4096;

constexpr std::array<std::string_view, 7> kPictureEndings = {".png",  ".jpg",  ".jpeg", ".jpe",
                                                             ".jfif", ".webp", ".gif"};
constexpr std::array<std::string_view, 9> kEndingsNotRead = {".bmp",  ".tif", ".tiff", ".heic", ".heif",
                                                             ".avif", ".jxl", ".jp2",  ".svg"};

struct ReadPicture {
  PictureRecord record;
  std::vector<std::uint8_t> bytes;
  std::string skipped_because;  // empty: it is fine
  std::string detail;
};

bool is_grey(const Image& image) {
  for (std::size_t i = 0; i < image.rgb.size(); i += 3) {
    if (image.rgb[i] != image.rgb[i + 1] || image.rgb[i] != image.rgb[i + 2]) return false;
  }
  return true;
}

ReadPicture pack(Image image, std::span<const std::byte> file, ExifOrientation exif) {
  ReadPicture picture;
  picture.record.exif = exif;
  picture.record.width = static_cast<std::uint32_t>(image.width);
  picture.record.height = static_cast<std::uint32_t>(image.height);
  const bool grey = is_grey(image);
  const std::size_t pixel_bytes = image.width * image.height * (grey ? 1 : 3);
  if (pixel_bytes > kKeepPixelsUpToBytes && pixel_bytes > file.size()) {
    const auto* first = reinterpret_cast<const std::uint8_t*>(file.data());
    picture.record.kind = PictureKind::encoded;
    picture.bytes.assign(first, first + file.size());
  } else if (grey) {
    picture.record.kind = PictureKind::grey;
    picture.bytes.resize(pixel_bytes);
    for (std::size_t i = 0; i < pixel_bytes; ++i) picture.bytes[i] = image.rgb[3 * i];
  } else {
    picture.record.kind = PictureKind::rgb;
    picture.bytes = std::move(image.rgb);
  }
  picture.record.size = static_cast<std::uint32_t>(picture.bytes.size());
  return picture;
}

ReadPicture skip(std::string reason, std::string detail = {}) {
  ReadPicture picture;
  picture.skipped_because = std::move(reason);
  picture.detail = std::move(detail);
  return picture;
}

ReadPicture read_one(const std::filesystem::path& path, ExifOrientation exif) {
  std::optional<MappedFile> file;
  try {
    file.emplace(path);
  } catch (const Error& error) {
    std::error_code ignored;
    return skip(std::filesystem::exists(path, ignored) ? "cannot be read" : "no such file", error.what());
  }
  if (file->bytes().empty()) return skip("empty file");
  const DecodingShare share;
  try {
    auto picture = pack(decode_image(file->bytes(), path.string(), exif), file->bytes(), exif);
    file->check();
    return picture;
  } catch (const Error& error) {
    return skip(error.code() == ErrorCode::unimplemented ? "not read" : "cannot be decoded", error.what());
  }
}

}  // namespace

bool has_picture_name(const std::filesystem::path& path) {
  return std::ranges::find(kPictureEndings, lower_case(path.extension().string())) != kPictureEndings.end();
}

bool looks_like_picture(const std::filesystem::path& path) {
  if (path.has_extension()) return has_picture_name(path);
  try {
    const std::string start = read_file_start(path, kPictureMagicBytes);
    return !picture_format(std::as_bytes(std::span(start))).empty();
  } catch (const Error&) {
    return false;  // no file that can be read is no picture either
  }
}

std::string why_no_picture(const std::filesystem::path& path) {
  const std::string ending = lower_case(path.extension().string());
  if (std::ranges::find(kEndingsNotRead, ending) != kEndingsNotRead.end())
    return fmt::format("{} is not read, convert it to PNG or JPEG", ending);
  return "not a picture by its name";
}

PictureSet read_picture_files(std::span<const LabelledFile> files, const ReadOptions& options,
                              SkippedFiles& skipped) {
  PictureSet set;
  for (std::size_t first = 0; first < files.size(); first += kFilesAtOnce) {
    const std::size_t count = std::min(kFilesAtOnce, files.size() - first);
    std::vector<ReadPicture> pictures(count);
    parallel_for(options, count, [&](std::size_t i, std::size_t) {
      pictures[i] = read_one(files[first + i].path, options.exif);
    });
    for (std::size_t i = 0; i < count; ++i) {
      const LabelledFile& file = files[first + i];
      ReadPicture& picture = pictures[i];
      if (!picture.skipped_because.empty()) {
        skipped.add(file.path, picture.skipped_because, picture.detail);
        continue;
      }
      picture.record.offset = set.bytes.size();
      set.bytes.insert(set.bytes.end(), picture.bytes.begin(), picture.bytes.end());
      set.records.push_back(picture.record);
      set.labels.push_back(file.label);
      set.name_last(file.name);
    }
    if (set.bytes.size() > options.memory_limit_bytes) {
      throw Error(ErrorCode::resource_exhausted,
                  fmt::format("the first {} pictures already take {} bytes, over the limit of {}", set.size(),
                              set.bytes.size(), options.memory_limit_bytes),
                  "use fewer or smaller pictures, or raise the memory limit")
          .at(files[first].path.string());
    }
  }
  return set;
}

}  // namespace dfrost
