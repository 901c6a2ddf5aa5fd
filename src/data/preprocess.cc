#include "data/preprocess.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <vector>

#include "data/preprocess_geometry.h"
#include "data/resample.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

void check_patch(std::size_t size, std::size_t patch) {
  if (patch == 0 || size % patch != 0) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("an image of {0}x{0} cannot be cut into patches of {1}x{1}", size, patch));
  }
}

// The rows of the picture that the vertical pass looks at, each resampled along its columns when first
// needed. As many are kept as there are taps, in a ring.
class ResampledRows {
 public:
  ResampledRows(const std::uint8_t* rgb, std::size_t width, std::size_t first_column, const AxisTaps& columns,
                std::size_t taps)
      : source_(rgb + 3 * first_column),
        source_stride_(3 * width),
        columns_(columns),
        row_bytes_(3 * (columns.first.back() + columns.taps)),
        stride_(3 * columns.outputs() + kRowSlackBytes),
        padded_(row_bytes_ + kRowSlackBytes),
        ring_(taps * stride_),
        window_(taps) {}

  // Rows [first, first + taps); `first` never decreases from call to call.
  std::span<const std::uint8_t* const> from(std::size_t first) {
    const std::size_t taps = window_.size();
    for (next_ = std::max(next_, first); next_ < first + taps; ++next_) {
      // The kernel reads a little past the pixels it needs, which in the picture's last row is nobody's
      // memory.
      std::memcpy(padded_.data(), source_ + next_ * source_stride_, row_bytes_);
      resample_columns(padded_.data(), columns_, slot(next_));
    }
    for (std::size_t t = 0; t < taps; ++t) window_[t] = slot(first + t);
    return window_;
  }

 private:
  std::uint8_t* slot(std::size_t row) { return ring_.data() + row % window_.size() * stride_; }

  const std::uint8_t* source_;
  std::size_t source_stride_;
  const AxisTaps& columns_;
  std::size_t row_bytes_;  // of the picture's row, what the columns look at
  std::size_t stride_;
  std::vector<std::uint8_t> padded_;
  std::vector<std::uint8_t> ring_;
  std::vector<const std::uint8_t*> window_;
  std::size_t next_ = 0;  // the first row that was not resampled yet
};

}  // namespace

void Preprocessing::validate() const {
  const auto require = [](bool ok, std::string_view field, std::string_view rule) {
    if (ok) return;
    throw Error(ErrorCode::invalid_argument, fmt::format("preprocessing: {} must be {}", field, rule))
        .at(std::string(field));
  };
  constexpr std::size_t kMaxSide = 1 << 14;
  require(resize >= 1 && resize <= kMaxSide, "resize", fmt::format("from 1 to {}", kMaxSide));
  require(crop >= 1 && crop <= kMaxSide, "crop", fmt::format("from 1 to {}", kMaxSide));
  for (int c = 0; c < 3; ++c) {
    require(std::isfinite(mean[c]), "mean", "finite");
    require(std::isfinite(std[c]) && std[c] > 0, "std", "positive");
  }
}

Preprocessor::Preprocessor(std::size_t width, std::size_t height, const Preprocessing& how)
    : width_(width), crop_(how.crop) {
  how.validate();
  if (width == 0 || height == 0) throw Error(ErrorCode::invalid_argument, "a picture without pixels");
  const auto resized = resized_size(width, height, how);
  columns_ = make_axis_taps({width, resized.width, crop_begin(resized.width, crop_), crop_}, how.filter);
  rows_ = make_axis_taps({height, resized.height, crop_begin(resized.height, crop_), crop_}, how.filter);
  first_column_ = columns_.first.front();
  for (auto& first : columns_.first) first -= static_cast<std::uint32_t>(first_column_);
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      normalised_[c][byte] = (static_cast<float>(byte) / 255.0f - how.mean[c]) / how.std[c];
    }
  }
}

void Preprocessor::to_patches(const std::uint8_t* rgb, std::size_t patch, std::span<float> patches) const {
  check_patch(crop_, patch);
  assert(patches.size() == 3 * crop_ * crop_);
  ResampledRows source(rgb, width_, first_column_, columns_, rows_.taps);
  std::vector<std::uint8_t> row(3 * crop_ + kRowSlackBytes);
  for (std::size_t y = 0; y < crop_; ++y) {
    resample_rows(source.from(rows_.first[y]), rows_.weights_of(y), 3 * crop_, row.data());
    normalise_row(row.data(), y, patch, patches);
  }
}

void Preprocessor::normalise_row(const std::uint8_t* row, std::size_t y, std::size_t patch,
                                 std::span<float> patches) const {
  const std::size_t across = crop_ / patch;
  const std::size_t patch_pixels = patch * patch;
  float* out = patches.data() + y / patch * across * 3 * patch_pixels + y % patch * patch;
  for (std::size_t p = 0; p < across; ++p, row += 3 * patch) {
    for (std::size_t c = 0; c < 3; ++c, out += patch_pixels) {
      const float* normalised = normalised_[c].data();
      for (std::size_t x = 0; x < patch; ++x) out[x] = normalised[row[3 * x + c]];
    }
  }
}

void preprocess_to_patches(const ImageView& image, const Preprocessing& how, std::size_t patch,
                           std::span<float> patches) {
  Preprocessor(image.width, image.height, how).to_patches(image.rgb, patch, patches);
}

void preprocess_to_planes(const ImageView& image, const Preprocessing& how, std::span<float> planes) {
  Preprocessor(image.width, image.height, how).to_planes(image.rgb, planes);
}

void planes_to_patches(std::span<const float> planes, std::size_t size, std::size_t patch,
                       std::span<float> patches) {
  check_patch(size, patch);
  assert(planes.size() == 3 * size * size && patches.size() == planes.size());
  float* out = patches.data();
  for (std::size_t top = 0; top < size; top += patch) {
    for (std::size_t left = 0; left < size; left += patch) {
      for (std::size_t c = 0; c < 3; ++c) {
        for (std::size_t y = 0; y < patch; ++y, out += patch) {
          std::copy_n(planes.data() + (c * size + top + y) * size + left, patch, out);
        }
      }
    }
  }
}

}  // namespace dfrost
