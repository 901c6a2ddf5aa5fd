#include "data/cifar.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "data/bad_file.h"
#include "data/image_file.h"
#include "data/inflate.h"

namespace dfrost {
namespace {

constexpr std::size_t kCifarPixels = kCifarSide * kCifarSide;
constexpr std::size_t kRecordBytes = 1 + 3 * kCifarPixels;

}  // namespace

PictureSet parse_cifar_records(std::span<const std::uint8_t> bytes, const std::string& place,
                               std::size_t classes) {
  if (bytes.empty() || bytes.size() % kRecordBytes != 0) {
    throw bad_file(
        place, bytes.size() / kRecordBytes * kRecordBytes,
        fmt::format("is {} bytes long, not a whole number of {}-byte records", bytes.size(), kRecordBytes));
  }
  const std::size_t count = bytes.size() / kRecordBytes;
  PictureSet set;
  set.records = uniform_records(count, kCifarSide, kCifarSide, PictureKind::rgb);
  set.labels.resize(count);
  set.bytes.resize(count * 3 * kCifarPixels);
  std::uint8_t* to = set.bytes.data();
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t* record = bytes.data() + i * kRecordBytes;
    if (record[0] >= classes) {
      throw bad_file(place, i * kRecordBytes,
                     fmt::format("picture {} has label {}, but there are {} classes", i, record[0], classes));
    }
    set.labels[i] = record[0];
    const std::uint8_t* red = record + 1;
    for (std::size_t p = 0; p < kCifarPixels; ++p, to += 3) {
      to[0] = red[p];
      to[1] = red[kCifarPixels + p];
      to[2] = red[2 * kCifarPixels + p];
    }
  }
  return set;
}

PictureSet read_cifar_records(const std::filesystem::path& path, std::size_t classes) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  const std::span plain(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  auto set = is_gzip(bytes) ? parse_cifar_records(inflate_bytes(bytes, path.string()), path.string(), classes)
                            : parse_cifar_records(plain, path.string(), classes);
  file.check();
  return set;
}

std::vector<int> parse_label_json(std::string_view text, const std::string& place, std::size_t classes) {
  const nlohmann::json list = parse_json(text, place);
  if (!list.is_array()) throw bad_file(place, 0, "is not a list of labels");
  std::vector<int> labels;
  labels.reserve(list.size());
  for (const auto& entry : list) {
    if (!entry.is_number_unsigned() || entry.get<std::uint64_t>() >= classes) {
      throw Error(ErrorCode::data_loss, fmt::format("{}: the label of picture {} is no number below {}",
                                                    place, labels.size(), classes))
          .at(fmt::format("{}, entry {}", place, labels.size()));
    }
    labels.push_back(entry.get<int>());
  }
  return labels;
}

PictureSet read_cifar_png_batch(const std::filesystem::path& batch) {
  Image image = read_image(batch, ExifOrientation::ignore);
  if (image.width != kCifarPixels) {
    throw bad_file(batch.string(), 16,
                   fmt::format("is {} pixels wide; a batch has one {}-pixel picture per row", image.width,
                               kCifarPixels));
  }
  PictureSet set;
  set.records = uniform_records(image.height, kCifarSide, kCifarSide, PictureKind::rgb);
  set.bytes = std::move(image.rgb);
  return set;
}

}  // namespace dfrost
