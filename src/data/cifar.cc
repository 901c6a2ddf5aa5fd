#include "data/cifar.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "data/bad_file.h"
#include "data/image_file.h"
#include "data/inflate.h"

namespace dfrost {
namespace {

constexpr std::size_t kPixels = kCifarSide * kCifarSide;
constexpr std::size_t kRecordBytes = 1 + 3 * kPixels;

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
  set.bytes.resize(count * 3 * kPixels);
  std::uint8_t* to = set.bytes.data();
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t* record = bytes.data() + i * kRecordBytes;
    if (record[0] >= classes) {
      throw bad_file(place, i * kRecordBytes,
                     fmt::format("picture {} has label {}, but there are {} classes", i, record[0], classes));
    }
    set.labels[i] = record[0];
    const std::uint8_t* red = record + 1;
    for (std::size_t p = 0; p < kPixels; ++p, to += 3) {
      to[0] = red[p];
      to[1] = red[kPixels + p];
      to[2] = red[2 * kPixels + p];
    }
  }
  return set;
}

PictureSet read_cifar_records(const std::filesystem::path& path, std::size_t classes) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  if (is_gzip(bytes)) return parse_cifar_records(inflate_bytes(bytes, path.string()), path.string(), classes);
  return parse_cifar_records({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()},
                             path.string(), classes);
}

std::vector<int> parse_label_json(std::string_view text, const std::string& place, std::size_t classes) {
  // A flat array of small numbers: any other event of the parser ends it, so that no tree is ever built.
  struct Labels : nlohmann::json::json_sax_t {
    std::vector<int> values;
    std::size_t classes = 0;
    int depth = 0;
    std::string problem;
    std::size_t problem_at = 0;

    bool refuse(std::string what) {
      problem = std::move(what);
      return false;
    }
    bool null() override { return refuse("expected a label, found null"); }
    bool boolean(bool) override { return refuse("expected a label, found a boolean"); }
    bool number_integer(number_integer_t) override { return refuse("found a negative label"); }
    bool number_unsigned(number_unsigned_t value) override {
      if (depth != 1) return refuse("expected an array of labels");
      if (value >= classes) {
        return refuse(
            fmt::format("picture {} has label {}, but there are {} classes", values.size(), value, classes));
      }
      values.push_back(static_cast<int>(value));
      return true;
    }
    bool number_float(number_float_t, const string_t&) override { return refuse("found a fractional label"); }
    bool string(string_t&) override { return refuse("expected a label, found text"); }
    bool binary(binary_t&) override { return refuse("expected a label, found bytes"); }
    bool start_object(std::size_t) override { return refuse("expected an array of labels, found an object"); }
    bool key(string_t&) override { return refuse("expected an array of labels, found an object"); }
    bool end_object() override { return false; }
    bool start_array(std::size_t) override {
      return ++depth == 1 || refuse("expected a flat array of labels");
    }
    bool end_array() override { return --depth == 0; }
    bool parse_error(std::size_t at, const std::string&, const nlohmann::detail::exception&) override {
      problem_at = at;
      return refuse("is not valid JSON");
    }
  } labels;
  labels.classes = classes;
  if (!nlohmann::json::sax_parse(text, &labels)) {
    if (labels.problem_at != 0) throw bad_file(place, labels.problem_at, labels.problem);
    // The parser tells positions only of what is not JSON; the entry's number serves as well.
    throw Error(ErrorCode::data_loss, fmt::format("{}: {}", place, labels.problem))
        .at(fmt::format("{}, entry {}", place, labels.values.size()));
  }
  return std::move(labels.values);
}

PictureSet read_cifar_png_batch(const std::filesystem::path& batch) {
  Image image = read_image(batch);
  if (image.width != kPixels) {
    throw bad_file(
        batch.string(), 16,
        fmt::format("is {} pixels wide; a batch has one {}-pixel picture per row", image.width, kPixels));
  }
  PictureSet set;
  set.records = uniform_records(image.height, kCifarSide, kCifarSide, PictureKind::rgb);
  set.bytes = std::move(image.rgb);
  return set;
}

}  // namespace dfrost
