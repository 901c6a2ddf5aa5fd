#include "data/svhn.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/file.h"
#include "data/mat_file.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

constexpr std::size_t kSvhnSide = 32;
constexpr std::size_t kSvhnPixels = kSvhnSide * kSvhnSide;

Error bad_variable(const std::string& place, const std::string& variable, const std::string& what) {
  return Error(ErrorCode::data_loss, fmt::format("{}: {}", place, what),
               "expected SVHN's cropped digits: X of 32×32×3×N bytes and y of N labels from 1 to 10")
      .at(fmt::format("{}, {}", place, variable));
}

MatArray& require(std::map<std::string, MatArray>& arrays, const std::string& name,
                  const std::string& place) {
  const auto found = arrays.find(name);
  if (found == arrays.end()) throw bad_variable(place, name, fmt::format("has no variable {}", name));
  return found->second;
}

// From planes that go column by column to rows of RGB, in place.
void interleave(std::span<std::uint8_t, 3 * kSvhnPixels> picture) {
  std::array<std::uint8_t, 3 * kSvhnPixels> planes;
  std::ranges::copy(picture, planes.begin());
  std::uint8_t* to = picture.data();
  for (std::size_t row = 0; row < kSvhnSide; ++row) {
    for (std::size_t column = 0; column < kSvhnSide; ++column, to += 3) {
      for (std::size_t c = 0; c < 3; ++c) to[c] = planes[c * kSvhnPixels + column * kSvhnSide + row];
    }
  }
}

}  // namespace

PictureSet parse_svhn_mat(std::span<const std::byte> bytes, const std::string& place) {
  auto arrays = parse_mat(bytes, place, {"X", "y"});
  MatArray& x = require(arrays, "X", place);
  const MatArray& y = require(arrays, "y", place);
  const auto& shape = x.dimensions;
  // MATLAB drops a last dimension of 1.
  const std::size_t count = shape.size() > 3 ? shape[3] : 1;
  if (shape.size() < 3 || shape.size() > 4 || shape[0] != kSvhnSide || shape[1] != kSvhnSide ||
      shape[2] != 3) {
    throw bad_variable(place, "X", fmt::format("X is {}", fmt::join(shape, "×")));
  }
  if (y.values.size() != count) {
    throw bad_variable(place, "y", fmt::format("has {} labels for {} pictures", y.values.size(), count));
  }
  PictureSet set;
  set.records = uniform_records(count, kSvhnSide, kSvhnSide, PictureKind::rgb);
  set.labels.resize(count);
  set.bytes = std::move(x.values);
  for (std::size_t i = 0; i < count; ++i) {
    if (y.values[i] < 1 || y.values[i] > 10) {
      throw bad_variable(place, fmt::format("y[{}]", i),
                         fmt::format("the label of picture {} is {}", i, y.values[i]));
    }
    set.labels[i] = y.values[i] % 10;
    interleave(std::span(set.bytes).subspan(i * 3 * kSvhnPixels).first<3 * kSvhnPixels>());
  }
  return set;
}

PictureSet read_svhn_mat(const std::filesystem::path& path) {
  const MappedFile file(path);
  auto set = parse_svhn_mat(file.bytes(), path.string());
  file.check();
  return set;
}

}  // namespace dfrost
