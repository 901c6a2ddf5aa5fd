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

// The rows of a picture after the first pass, each made when it is first asked for. The last `capacity` of
// them are kept, in a ring.
class ResampledRows {
 public:
  ResampledRows(const std::uint8_t* rgb, std::size_t width, std::size_t first_column, const AxisTaps& columns,
                std::size_t capacity)
      : source_(rgb + 3 * first_column),
        source_stride_(3 * width),
        columns_(columns),
        source_bytes_(3 * (columns.first.back() + columns.taps)),
        shape_{columns.outputs()},
        padded_(source_bytes_ + kVectorSlackBytes),
        scratch_(3 * columns.outputs() + kVectorSlackBytes),
        ring_(capacity * shape_.row_bytes()),
        window_(capacity) {}

  // Rows [first, last), at most `capacity`; `first` never decreases from call to call.
  RowWindow rows(std::size_t first, std::size_t last) {
    for (next_ = std::max(next_, first); next_ < last; ++next_) {
      // The kernel reads a little past the pixels it needs, which in the picture's last row is nobody's
      // memory.
      std::memcpy(padded_.data(), source_ + next_ * source_stride_, source_bytes_);
      resample_columns(padded_.data(), columns_, scratch_.data(), slot(next_));
    }
    for (std::size_t row = first; row < last; ++row) window_[row - first] = slot(row);
    return {window_, first, shape_};
  }

 private:
  std::uint8_t* slot(std::size_t row) { return ring_.data() + row % window_.size() * shape_.row_bytes(); }

  const std::uint8_t* source_;
  std::size_t source_stride_;
  const AxisTaps& columns_;
  std::size_t source_bytes_;  // of a row of the picture, what the columns look at
  PlanarRows shape_;
  std::vector<std::uint8_t> padded_;
  std::vector<std::uint8_t> scratch_;
  std::vector<std::uint8_t> ring_;
  std::vector<const std::uint8_t*> window_;
  std::size_t next_ = 0;  // the first row that was not made yet
};

}  // namespace

void Preprocessing::validate() const {
  const auto require = [](bool ok, std::string_view field, std::string_view rule) {
    if (ok) return;
    throw Error(ErrorCode::invalid_argument, fmt::format("preprocessing: {} must be {}", field, rule))
        .at(std::string(field));
  };
  constexpr std::size_t kMaxResized = 1 << 14;
  require(resize >= 1 && resize <= kMaxResized, "resize", fmt::format("from 1 to {}", kMaxResized));
  require(crop >= 1 && crop <= kMaxResized, "crop", fmt::format("from 1 to {}", kMaxResized));
  for (int c = 0; c < 3; ++c) {
    require(std::abs(mean[c]) <= 1e6f, "mean", "from -1e6 to 1e6");
    require(std[c] >= 1e-6f && std[c] <= 1e6f, "std", "from 1e-6 to 1e6");
  }
}

Preprocessor::Preprocessor(std::size_t width, std::size_t height, const Preprocessing& how)
    : width_(width), crop_(how.crop), normalisation_{how.mean, how.std} {
  how.validate();
  if (width == 0 || height == 0) throw Error(ErrorCode::invalid_argument, "a picture without pixels");
  const auto resized = resized_size(width, height, how);
  columns_ = make_axis_taps({width, resized.width, crop_begin(resized.width, crop_), crop_}, how.filter);
  rows_ = make_axis_taps({height, resized.height, crop_begin(resized.height, crop_), crop_}, how.filter);
  first_column_ = columns_.first.front();
  for (auto& first : columns_.first) first -= static_cast<std::uint32_t>(first_column_);
}

void Preprocessor::to_patches(const std::uint8_t* rgb, std::size_t patch, std::span<float> patches) const {
  check_patch(crop_, patch);
  assert(patches.size() == 3 * crop_ * crop_);
  const auto first_row = [&](std::size_t top) { return std::size_t{rows_.first[top]}; };
  const auto last_row = [&](std::size_t top) { return rows_.first[top + patch - 1] + rows_.taps; };
  std::size_t capacity = 0;
  for (std::size_t top = 0; top < crop_; top += patch)
    capacity = std::max(capacity, last_row(top) - first_row(top));

  ResampledRows source(rgb, width_, first_column_, columns_, capacity);
  float* out = patches.data();
  for (std::size_t top = 0; top < crop_; top += patch) {
    const RowWindow window = source.rows(first_row(top), last_row(top));
    // Patch by patch, so that the output is written from front to back.
    for (std::size_t left = 0; left < crop_; left += patch, out += 3 * patch * patch) {
      resample_rows(window, rows_, {left, top, patch}, normalisation_, out);
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
