#include "data/preprocess_reference.h"

#include <algorithm>

#include "data/preprocess_geometry.h"

namespace dfrost {
namespace {

Image black_image(std::size_t width, std::size_t height) {
  return {width, height, std::vector<std::uint8_t>(width * height * 3)};
}

std::uint8_t rounded_byte(std::int64_t sum) {
  const std::int64_t half = std::int64_t{1} << (kWeightBits - 1);
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>((sum + half) >> kWeightBits, 0, 255));
}

Image resize_width(const ImageView& image, std::size_t width, ResizeFilter filter) {
  const AxisTaps columns = make_axis_taps({image.width, width, 0, width}, filter);
  Image out = black_image(width, image.height);
  for (std::size_t y = 0; y < image.height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      for (std::size_t c = 0; c < 3; ++c) {
        std::int64_t sum = 0;
        for (std::size_t t = 0; t < columns.taps; ++t) {
          const std::uint8_t byte = image.rgb[(y * image.width + columns.first[x] + t) * 3 + c];
          sum += std::int64_t{byte} * columns.weights_of(x)[t];
        }
        out.rgb[(y * width + x) * 3 + c] = rounded_byte(sum);
      }
    }
  }
  return out;
}

Image transpose(const ImageView& image) {
  Image out = black_image(image.height, image.width);
  for (std::size_t y = 0; y < image.height; ++y) {
    for (std::size_t x = 0; x < image.width; ++x) {
      std::copy_n(image.rgb + (y * image.width + x) * 3, 3, out.rgb.data() + (x * image.height + y) * 3);
    }
  }
  return out;
}

}  // namespace

Image resize_image(const ImageView& image, std::size_t width, std::size_t height, ResizeFilter filter) {
  const Image wide = resize_width(image, width, filter);
  const Image turned = resize_width(transpose(wide.view()).view(), height, filter);
  return transpose(turned.view());
}

Image crop_centre(const ImageView& image, std::size_t size) {
  Image out = black_image(size, size);
  const std::ptrdiff_t left = crop_begin(image.width, size);
  const std::ptrdiff_t top = crop_begin(image.height, size);
  for (std::size_t y = 0; y < size; ++y) {
    for (std::size_t x = 0; x < size; ++x) {
      // A negative sum wraps to a huge number, which is outside as well.
      const std::size_t from_x = x + static_cast<std::size_t>(left);
      const std::size_t from_y = y + static_cast<std::size_t>(top);
      if (from_x >= image.width || from_y >= image.height) continue;
      std::copy_n(image.rgb + (from_y * image.width + from_x) * 3, 3, out.rgb.data() + (y * size + x) * 3);
    }
  }
  return out;
}

std::vector<float> reference_planes(const ImageView& image, const Preprocessing& how) {
  const Size size = resized_size(image.width, image.height, how);
  const Image resized = resize_image(image, size.width, size.height, how.filter);
  const Image cropped = crop_centre(resized.view(), how.crop);
  const std::size_t pixels = how.crop * how.crop;
  std::vector<float> planes(3 * pixels);
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t i = 0; i < pixels; ++i) {
      planes[c * pixels + i] =
          (static_cast<float>(cropped.rgb[3 * i + c]) / 255.0f - how.mean[c]) / how.std[c];
    }
  }
  return planes;
}

}  // namespace dfrost
