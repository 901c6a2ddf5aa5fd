#include "backbone/moments_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "backbone/pixels.h"
#include "backbone/preparation_text.h"
#include "base/content_hash.h"
#include "base/finite.h"
#include "base/quote.h"
#include "base/safetensors.h"
#include "dfrost/error.h"
#include "kernels/triangle.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

constexpr const char *kCount = "count", *kMean = "mean", *kCovariance = "covariance";
constexpr const char *kBackboneKey = "backbone", *kSizeKey = "image_size", *kPicturesKey = "pictures",
                     *kPreparationKey = "preparation";
// fp32 rounds a covariance, and one of few pictures has eigenvalues of 0: they may come out so far below it,
// as a share of the mean one.
constexpr double kRounding = 1e-3;

// What keeps them from being moments of pictures; nothing where they may be.
std::optional<std::string> flaw_of(const FeatureMoments& moments) {
  if (!all_finite(std::span(&moments.count, 1)) || !all_finite(moments.mean) ||
      !all_finite(moments.covariance))
    return "they hold what is no number";
  if (moments.count < 2) return fmt::format("they are of {} pictures: no covariance", moments.count);
  std::vector<double> covariance(moments.covariance.begin(), moments.covariance.end());
  const std::size_t rows = moments.mean.size();
  const double eigenvalue = mean_of_diagonal(rows, covariance);
  if (!(eigenvalue > 0)) return "all their pictures look the same to the backbone";
  for (std::size_t i = 0; i < rows; ++i) covariance[triangle_size(i) + i] += kRounding * eigenvalue;
  if (!factorize_triangle(rows, covariance)) return "their covariance is none: it has a negative eigenvalue";
  return std::nullopt;
}

[[noreturn]] void refuse_moments(const fs::path& path, const std::string& reason, const std::string& hint) {
  throw Error(ErrorCode::data_loss, reason, hint).at(path.string());
}

// What makes a file that fits.
std::string remedy(const fs::path& backbone, const fs::path& path, std::size_t image_size) {
  return fmt::format(
      "make them of some thousand pictures of any kind: 'dfrost backbone moments {} PICTURES --image-size {} "
      "--out {}'",
      backbone.string(), image_size, path.string());
}

void expect_metadata(const Safetensors& file, const fs::path& path, const char* key, const char* what,
                     const std::string& expected, const std::string& hint) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end())
    refuse_moments(path, fmt::format("no moments of a backbone: its metadata do not say '{}'", key), hint);
  if (found->second != expected)
    refuse_moments(path,
                   fmt::format("its moments are of another {}: {}, and {} is in use", what,
                               quote_name(found->second), quote_name(expected)),
                   hint);
}

std::vector<float> read_tensor(const Safetensors& file, const fs::path& path, const char* name,
                               std::size_t size, const std::string& hint) {
  if (!file.contains(name)) refuse_moments(path, fmt::format("it has no tensor '{}'", name), hint);
  const auto& tensor = file.at(name);
  if (tensor.shape != Shape{size})
    refuse_moments(path,
                   fmt::format("tensor '{}' has shape {}, and the backbone's features want {}", name,
                               to_string(tensor.shape), to_string(Shape{size})),
                   hint);
  return read_floats(tensor, name);
}

FeatureMoments read_checked(const fs::path& path, const MomentsOrigin& expected, const std::string& hint) {
  const SafetensorsFile file(path);
  const Safetensors& content = file.content();
  expect_metadata(content, path, kSizeKey, "image size", std::to_string(expected.image_size), hint);
  expect_metadata(content, path, kBackboneKey, "backbone", expected.weights, hint);
  expect_metadata(content, path, kPreparationKey, "preparation of pictures", expected.preparation, hint);
  FeatureMoments moments;
  moments.count = read_tensor(content, path, kCount, 1, hint).front();
  moments.mean = read_tensor(content, path, kMean, expected.width, hint);
  moments.covariance = read_tensor(content, path, kCovariance, triangle_size(expected.width), hint);
  if (const auto flaw = flaw_of(moments))
    refuse_moments(path, fmt::format("its moments are damaged: {}", *flaw), hint);
  return moments;
}

}  // namespace

MomentsOrigin moments_origin(const Checkpoint& checkpoint, std::string weights) {
  const Geometry& geometry = checkpoint.geometry();
  return {std::move(weights), geometry.image_size, geometry.width,
          preparation_text(checkpoint.preprocessing())};
}

fs::path moments_file(const fs::path& backbone, std::size_t image_size) {
  const fs::path folder = fs::is_directory(backbone) ? backbone : backbone.parent_path();
  return folder / fmt::format("{}{}.safetensors", kMomentsPrefix, image_size);
}

void write_moments(const fs::path& path, const FeatureMoments& moments, const MomentsOrigin& origin) {
  if (const auto flaw = flaw_of(moments))
    throw Error(ErrorCode::failed_precondition, fmt::format("no moments to write: {}", *flaw),
                "take some thousand pictures of many kinds");
  const FloatTensor tensors[] = {{kCount, {1}, std::span(&moments.count, 1)},
                                 {kMean, {moments.mean.size()}, moments.mean},
                                 {kCovariance, {moments.covariance.size()}, moments.covariance}};
  write_safetensors(path, tensors,
                    {{kBackboneKey, origin.weights},
                     {kSizeKey, std::to_string(origin.image_size)},
                     {kPicturesKey, fmt::format("{:.0f}", moments.count)},
                     {kPreparationKey, origin.preparation}});
}

FeatureMoments read_moments(const fs::path& path, const MomentsOrigin& expected) {
  return read_checked(path, expected, "");
}

FeatureMoments moments_beside(const fs::path& backbone, const MomentsOrigin& expected) {
  if (is_pixels(backbone) && !fs::exists(backbone))
    throw Error(ErrorCode::failed_precondition,
                fmt::format("the backbone '{}' lies in no folder, and so nothing lies beside it", kPixels),
                "use train.head_moments 'network' or 'own'")
        .at("train.head_moments");
  const auto path = moments_file(backbone, expected.image_size);
  const auto hint = remedy(backbone, path, expected.image_size);
  if (!fs::exists(path))
    throw Error(
        ErrorCode::not_found,
        fmt::format("there are no moments for {} pixels beside the backbone's weights", expected.image_size),
        hint)
        .at(path.string());
  return read_checked(path, expected, hint);
}

std::string moments_fingerprint(const FeatureMoments& moments) {
  ContentHash hash;
  hash.add(std::span(&moments.count, 1));
  hash.add(std::span(moments.mean));
  hash.add(std::span(moments.covariance));
  return hash.hex();
}

}  // namespace dfrost
