// Moments beside a backbone's weights: there and back, and what is refused.
#include "backbone/moments_file.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/file.h"
#include "base/safetensors.h"
#include "kernels/triangle.h"
#include "support/support.h"

namespace dfrost {
namespace {

constexpr std::size_t kWidth = 4;
const MomentsOrigin kOrigin{"0123456789abcdef", 32, kWidth, "32 true 2 32 0.5 0.5 0.5 0.5 0.5 0.5"};

// Of variances 1, 2, 3 and 4, and neighbours that go together.
FeatureMoments some_moments() {
  FeatureMoments moments{.count = 1000, .mean = {1, -2, 3, 0.25f}, .covariance = {}};
  for (std::size_t i = 0; i < kWidth; ++i)
    for (std::size_t j = 0; j <= i; ++j)
      moments.covariance.push_back(i == j ? static_cast<float>(i + 1) : (i == j + 1 ? 0.5f : 0.0f));
  return moments;
}

TEST(MomentsFile, GivesBackWhatWasWrittenBitForBit) {
  const test::TemporaryFolder folder;
  const auto path = moments_file(folder / "model.safetensors", 32);
  EXPECT_EQ(path, folder / "moments-32.safetensors");
  EXPECT_EQ(moments_file(folder.path(), 32), path);
  const auto written = some_moments();
  write_moments(path, written, kOrigin);
  const auto read = moments_beside(folder / "model.safetensors", kOrigin);
  EXPECT_EQ(read.count, written.count);
  EXPECT_EQ(read.mean, written.mean);
  EXPECT_EQ(read.covariance, written.covariance);
  EXPECT_EQ(moments_fingerprint(read), moments_fingerprint(written));
  EXPECT_EQ(SafetensorsFile(path).content().metadata.at("pictures"), "1000");
}

TEST(MomentsFile, ThatIsMissingIsAnErrorWithTheCommandThatMakesIt) {
  const test::TemporaryFolder folder;
  const auto look = [&] { moments_beside(folder / "model.safetensors", kOrigin); };
  test::expect_error(ErrorCode::not_found, "moments-32.safetensors", look);
  test::expect_error(ErrorCode::not_found, "dfrost backbone moments", look);
  test::expect_error(ErrorCode::not_found, "--image-size 32", look);
  test::expect_error(ErrorCode::failed_precondition, "pixels", [] { moments_beside("pixels", kOrigin); });
}

TEST(MomentsFile, OfAnotherBackboneSizePreparationOrWidthIsRefused) {
  const test::TemporaryFolder folder;
  const auto path = folder / "moments-32.safetensors";
  write_moments(path, some_moments(), kOrigin);
  const auto expect_refused = [&](const std::string& text, const auto& change) {
    MomentsOrigin other = kOrigin;
    change(other);
    test::expect_error(ErrorCode::data_loss, text, [&] { read_moments(path, other); });
  };
  expect_refused("another backbone", [](MomentsOrigin& o) { o.weights = "fedcba9876543210"; });
  expect_refused("another image size", [](MomentsOrigin& o) { o.image_size = 64; });
  expect_refused("another preparation", [](MomentsOrigin& o) { o.preparation = "64"; });
  expect_refused("tensor 'mean' has shape", [](MomentsOrigin& o) { o.width = 5; });
}

TEST(MomentsFile, ThatIsDamagedIsRefused) {
  const test::TemporaryFolder folder;
  const auto path = folder / "moments-32.safetensors";
  const SafetensorsMetadata metadata = {
      {"backbone", kOrigin.weights}, {"image_size", "32"}, {"preparation", kOrigin.preparation}};
  const auto expect_refused = [&](const std::string& text, const auto& change) {
    auto moments = some_moments();
    change(moments);
    const FloatTensor tensors[] = {{"count", {1}, std::span(&moments.count, 1)},
                                   {"mean", {moments.mean.size()}, moments.mean},
                                   {"covariance", {moments.covariance.size()}, moments.covariance}};
    write_safetensors(path, tensors, metadata);
    test::expect_error(ErrorCode::data_loss, text, [&] { read_moments(path, kOrigin); });
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  expect_refused("no number", [&](FeatureMoments& m) { m.mean[1] = nan; });
  expect_refused("no number", [&](FeatureMoments& m) { m.covariance[2] = nan; });
  expect_refused("no number", [](FeatureMoments& m) { m.count = std::numeric_limits<float>::infinity(); });
  expect_refused("of 1 pictures", [](FeatureMoments& m) { m.count = 1; });
  expect_refused("of -3 pictures", [](FeatureMoments& m) { m.count = -3; });
  expect_refused("negative eigenvalue", [](FeatureMoments& m) { m.covariance[0] = -1; });
  expect_refused("negative eigenvalue", [](FeatureMoments& m) { m.covariance[1] = 20; });
  expect_refused("look the same", [](FeatureMoments& m) { m.covariance.assign(triangle_size(kWidth), 0); });
  expect_refused("tensor 'covariance' has shape", [](FeatureMoments& m) { m.covariance.pop_back(); });

  const float one = 1;
  const FloatTensor count{"count", {1}, std::span(&one, 1)};
  write_safetensors(path, std::span(&count, 1), metadata);
  test::expect_error(ErrorCode::data_loss, "no tensor 'mean'", [&] { read_moments(path, kOrigin); });
  write_safetensors(path, std::span(&count, 1));
  test::expect_error(ErrorCode::data_loss, "no moments of a backbone", [&] { read_moments(path, kOrigin); });
  write_moments(path, some_moments(), kOrigin);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  test::expect_error(ErrorCode::data_loss, "moments-32", [&] { read_moments(path, kOrigin); });
}

// Fewer pictures than features leave eigenvalues of 0, which fp32 rounds to either side.
TEST(MomentsFile, TakesACovarianceWithoutFullRank) {
  const test::TemporaryFolder folder;
  FeatureMoments moments{.count = 2, .mean = {0.1f, 0.2f, 0.3f, 0.4f}, .covariance = {}};
  for (std::size_t i = 0; i < kWidth; ++i)
    for (std::size_t j = 0; j <= i; ++j) moments.covariance.push_back(moments.mean[i] * moments.mean[j]);
  write_moments(folder / "m", moments, kOrigin);
  EXPECT_EQ(read_moments(folder / "m", kOrigin).covariance, moments.covariance);
}

TEST(MomentsFile, IsNotWrittenOfPicturesThatTellNothing) {
  const test::TemporaryFolder folder;
  auto moments = some_moments();
  moments.count = 1;
  test::expect_error(ErrorCode::failed_precondition, "no moments to write",
                     [&] { write_moments(folder / "m", moments, kOrigin); });
  EXPECT_FALSE(std::filesystem::exists(folder / "m"));
}

}  // namespace
}  // namespace dfrost
