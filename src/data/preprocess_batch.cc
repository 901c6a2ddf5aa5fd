#include <fmt/format.h>

#include "data/preprocess.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

void require_picture(const ImageView& image) {
  if (image.rgb != nullptr && image.width > 0 && image.height > 0) return;
  throw Error(ErrorCode::invalid_argument, "a picture without pixels cannot be prepared");
}

}  // namespace

std::vector<float> preprocess(std::span<const ImageView> images, const Preprocessing& how,
                              const Geometry& geometry, ThreadPool* threads) {
  how.validate();
  if (how.crop != geometry.image_size) {
    throw Error(ErrorCode::failed_precondition,
                fmt::format("pictures are cropped to {} pixels, but the model takes {}", how.crop,
                            geometry.image_size),
                "load both with the same image_size");
  }
  const std::size_t values = geometry.patches() * geometry.patch_values();
  std::vector<float> patches(images.size() * values);
  const auto prepare = [&](std::size_t index, std::size_t) {
    require_picture(images[index]);
    preprocess_to_patches(images[index], how, geometry.patch_size,
                          std::span(patches).subspan(index * values, values));
  };
  if (threads != nullptr) {
    threads->parallel_for(images.size(), prepare);
  } else {
    for (std::size_t index = 0; index < images.size(); ++index) prepare(index, 0);
  }
  return patches;
}

}  // namespace dfrost
