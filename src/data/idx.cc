#include "data/idx.h"

#include <algorithm>

#include <fmt/format.h>

#include "data/bad_file.h"
#include "data/inflate.h"

namespace dfrost {
namespace {

constexpr std::uint32_t kImagesMagic = 0x0803;
constexpr std::uint32_t kLabelsMagic = 0x0801;
constexpr std::size_t kImagesHeader = 16;
constexpr std::size_t kLabelsHeader = 8;
constexpr std::uint32_t kMaxSide = 1024;  // pixels; MNIST has 28

std::uint32_t big_endian(std::span<const std::uint8_t> bytes, std::size_t at) {
  return std::uint32_t{bytes[at]} << 24 | std::uint32_t{bytes[at + 1]} << 16 |
         std::uint32_t{bytes[at + 2]} << 8 | bytes[at + 3];
}

// Checks magic and length, where an element is `element_bytes` long; returns the count in the header.
std::size_t check_header(std::span<const std::uint8_t> file, const std::string& place, std::uint32_t magic,
                         std::size_t header, std::size_t element_bytes) {
  if (big_endian(file, 0) != magic) {
    throw bad_file(place, 0,
                   fmt::format("is not such an idx file: it begins with {:#010x}, not {:#010x}",
                               big_endian(file, 0), magic));
  }
  const std::size_t count = big_endian(file, 4);
  const std::size_t expected = header + count * element_bytes;
  if (file.size() != expected) {
    throw bad_file(place, std::min(file.size(), expected),
                   fmt::format("is {} bytes long, but its header speaks of {} elements, {} bytes",
                               file.size(), count, expected));
  }
  return count;
}

void check_long_enough(std::span<const std::uint8_t> file, const std::string& place, std::size_t header) {
  if (file.size() < header)
    throw bad_file(place, file.size(), fmt::format("ends inside its {}-byte header", header));
}

}  // namespace

PictureSet parse_idx(std::vector<std::uint8_t> images, const std::string& images_place,
                     std::span<const std::uint8_t> labels, const std::string& labels_place,
                     std::size_t classes) {
  check_long_enough(images, images_place, kImagesHeader);
  check_long_enough(labels, labels_place, kLabelsHeader);
  const std::uint32_t height = big_endian(images, 8);
  const std::uint32_t width = big_endian(images, 12);
  if (height == 0 || width == 0 || height > kMaxSide || width > kMaxSide) {
    throw bad_file(images_place, 8,
                   fmt::format("pictures of {} × {} pixels are not to be believed", width, height));
  }
  const std::size_t count =
      check_header(images, images_place, kImagesMagic, kImagesHeader, std::size_t{height} * width);
  const std::size_t label_count = check_header(labels, labels_place, kLabelsMagic, kLabelsHeader, 1);
  if (count != label_count) {
    throw bad_file(labels_place, 4,
                   fmt::format("has {} labels for the {} pictures of {}", label_count, count, images_place));
  }
  PictureSet set;
  set.records = uniform_records(count, width, height, PictureKind::grey);
  set.labels.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t label = labels[kLabelsHeader + i];
    if (label >= classes) {
      throw bad_file(labels_place, kLabelsHeader + i,
                     fmt::format("picture {} has label {}, but there are {} classes", i, label, classes));
    }
    set.labels.push_back(label);
  }
  // The pixels stay where the file's bytes are: the header is skipped, not cut off.
  for (PictureRecord& record : set.records) record.offset += kImagesHeader;
  set.bytes = std::move(images);
  return set;
}

PictureSet read_idx(const std::filesystem::path& images, const std::filesystem::path& labels,
                    std::size_t classes) {
  const auto label_bytes = read_maybe_gzip(labels);
  return parse_idx(read_maybe_gzip(images), images.string(), label_bytes, labels.string(), classes);
}

}  // namespace dfrost
