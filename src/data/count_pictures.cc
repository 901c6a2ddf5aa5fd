#include "data/count_pictures.h"

#include <fmt/format.h>

#include <cstring>
#include <string>

#include "base/file.h"
#include "data/bad_file.h"
#include "data/cifar.h"
#include "data/inflate.h"
#include "data/mat_file.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPeekFileBytes = 4096;

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

// The first bytes of what the file holds.
std::string content_start(const fs::path& path) {
  const std::string start = read_file_start(path, kPeekFileBytes);
  if (!is_gzip(bytes_of(start))) return start;
  const auto inflated = inflate_start(bytes_of(start), 64);
  return {inflated.begin(), inflated.end()};
}

std::size_t big_endian_at(const fs::path& path, const std::string& text, std::size_t at) {
  if (text.size() < at + 4) throw bad_file(path.string(), text.size(), "ends inside its header");
  std::size_t value = 0;
  for (std::size_t i = at; i < at + 4; ++i) value = value << 8 | static_cast<unsigned char>(text[i]);
  return value;
}

// Inflated, as the end of a gzip file says.
std::size_t content_bytes(const fs::path& path) {
  const std::size_t size = fs::file_size(path);
  if (!is_gzip(bytes_of(read_file_start(path, 2)))) return size;
  const MappedFile file(path);
  if (size < 8) throw bad_file(path.string(), size, "ends inside its header");
  std::uint32_t inflated = 0;
  std::memcpy(&inflated, file.bytes().data() + file.bytes().size() - 4, 4);
  file.check();
  return inflated;
}

}  // namespace

std::size_t count_idx(const fs::path& images) { return big_endian_at(images, content_start(images), 4); }

std::size_t count_cifar_records(const fs::path& records) {
  return content_bytes(records) / (1 + 3 * kCifarSide * kCifarSide);
}

std::size_t count_cifar_png(const fs::path& batch) {
  return big_endian_at(batch, read_file_start(batch, kPeekFileBytes), 20);  // the height of IHDR
}

std::size_t count_svhn_mat(const fs::path& path) {
  const MappedFile file(path);
  const auto dimensions = mat_dimensions(file.bytes(), path.string(), "X");
  file.check();
  if (dimensions.size() < 3) throw bad_file(path.string(), 0, "has no variable X of pictures");
  return dimensions.size() > 3 ? dimensions[3] : 1;
}

}  // namespace dfrost
