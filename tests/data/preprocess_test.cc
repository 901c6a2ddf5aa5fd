#include "data/preprocess.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/random.h"
#include "base/thread_pool.h"
#include "data/preprocess_reference.h"
#include "support/support.h"

namespace dfrost {
namespace {

// A file of binary records, read from front to back.
class Records {
 public:
  explicit Records(const std::filesystem::path& path) : bytes_(read_text_file(path)) {}
  bool more() const { return at_ < bytes_.size(); }
  template <typename T>
  std::vector<T> take(std::size_t count) {
    std::vector<T> values(count);
    if (at_ + count * sizeof(T) > bytes_.size()) throw std::runtime_error("the oracle's file is cut short");
    std::memcpy(values.data(), bytes_.data() + at_, count * sizeof(T));
    at_ += count * sizeof(T);
    return values;
  }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

Image random_image(std::size_t width, std::size_t height, RandomStream& random) {
  Image image{width, height, std::vector<std::uint8_t>(width * height * 3)};
  for (auto& byte : image.rgb) byte = static_cast<std::uint8_t>(random.below(256));
  return image;
}

std::vector<float> planes_of(const Image& image, const Preprocessing& how) {
  std::vector<float> planes(3 * how.crop * how.crop);
  preprocess_to_planes(image.view(), how, planes);
  return planes;
}

std::string described(const Image& image, const Preprocessing& how) {
  return fmt::format("{}x{} resize {}{} filter {} crop {}", image.width, image.height, how.resize,
                     how.stretch ? " stretched" : "", static_cast<int>(how.filter), how.crop);
}

TEST(ResizeImage, GivesTheBytesOfPillow) {
  const test::TemporaryFolder folder;
  test::run_python("data/resize_cases.py", (folder / "cases").string());
  Records records(folder / "cases");
  int cases = 0;
  for (; records.more(); ++cases) {
    const auto head = records.take<std::uint32_t>(5);
    const Image input{head[0], head[1], records.take<std::uint8_t>(3 * head[0] * head[1])};
    const auto expected = records.take<std::uint8_t>(3 * head[2] * head[3]);
    const Image resized = resize_image(input.view(), head[2], head[3], static_cast<ResizeFilter>(head[4]));
    EXPECT_EQ(resized.rgb, expected) << fmt::format("{}x{} to {}x{}, filter {}", head[0], head[1], head[2],
                                                    head[3], head[4]);
  }
  EXPECT_EQ(cases, 161 * 3);
}

TEST(Preprocess, GivesTheTensorsOfTorchvision) {
  const test::TemporaryFolder folder;
  test::run_python("data/torchvision_cases.py", (folder / "cases").string());
  Records records(folder / "cases");
  int cases = 0;
  for (; records.more(); ++cases) {
    const auto head = records.take<std::uint32_t>(6);
    const auto scale = records.take<float>(6);
    const Preprocessing how{.resize = head[2],
                            .stretch = head[3] != 0,
                            .filter = static_cast<ResizeFilter>(head[4]),
                            .crop = head[5],
                            .mean = {scale[0], scale[1], scale[2]},
                            .std = {scale[3], scale[4], scale[5]}};
    const Image input{head[0], head[1], records.take<std::uint8_t>(3 * head[0] * head[1])};
    EXPECT_EQ(planes_of(input, how), records.take<float>(3 * how.crop * how.crop)) << described(input, how);
  }
  EXPECT_EQ(cases, 81);
}

TEST(Preprocess, FusedEqualsStepByStep) {
  RandomStream random(2, "fused");
  for (int repeat = 0; repeat < 200; ++repeat) {
    const Image image = random_image(1 + random.below(120), 1 + random.below(120), random);
    Preprocessing how;
    how.resize = 1 + random.below(150);
    how.stretch = random.below(2) == 0;
    how.filter = static_cast<ResizeFilter>(random.below(3));
    how.crop = 1 + random.below(100);
    for (int c = 0; c < 3; ++c) {
      how.mean[c] = static_cast<float>(random.uniform());
      how.std[c] = static_cast<float>(random.uniform(0.01, 2.0));
    }
    ASSERT_EQ(planes_of(image, how), reference_planes(image.view(), how)) << described(image, how);
  }
}

TEST(Preprocess, GivesTheSameBitsWithEveryInstructionSet) {
  RandomStream random(6, "instruction sets");
  const Image image = random_image(57, 43, random);
  const std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets();
  EXPECT_GE(targets.size(), 2u);
  for (const auto filter : {ResizeFilter::bilinear, ResizeFilter::bicubic}) {
    Preprocessing how;
    how.filter = filter;
    how.crop = 225;  // not a whole number of vectors
    const std::vector<float> expected = reference_planes(image.view(), how);
    for (const std::int64_t target : targets) {
      hwy::SetSupportedTargetsForTest(target);
      hwy::GetChosenTarget().Update(hwy::SupportedTargets());
      EXPECT_EQ(planes_of(image, how), expected) << hwy::TargetName(target);
    }
  }
  hwy::SetSupportedTargetsForTest(0);  // back to what the machine has
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

TEST(Preprocess, PatchesAreThePlanesCutUp) {
  RandomStream random(3, "patches");
  const Image image = random_image(41, 29, random);
  for (const auto& [crop, patch] :
       {std::pair<std::size_t, std::size_t>{224, 32}, {224, 16}, {30, 5}, {7, 1}, {9, 9}}) {
    Preprocessing how;
    how.crop = crop;
    const std::vector<float> planes = planes_of(image, how);
    std::vector<float> patches(planes.size());
    preprocess_to_patches(image.view(), how, patch, patches);
    std::vector<float> cut(planes.size());
    planes_to_patches(planes, crop, patch, cut);
    EXPECT_EQ(patches, cut);
    // Where a pixel lands, written out.
    const std::size_t y = crop / 2, x = crop - 1, channel = 2;
    const std::size_t row = y / patch * (crop / patch) + x / patch;
    const std::size_t column = (channel * patch + y % patch) * patch + x % patch;
    EXPECT_EQ(cut[row * 3 * patch * patch + column], planes[(channel * crop + y) * crop + x]);
  }
}

TEST(Preprocess, OfAnEvenlyColouredPictureIsEven) {
  const Image image{13, 7, std::vector<std::uint8_t>(13 * 7 * 3, 200)};
  for (const auto filter : {ResizeFilter::nearest, ResizeFilter::bilinear, ResizeFilter::bicubic}) {
    Preprocessing how;
    how.filter = filter;
    const std::vector<float> planes = planes_of(image, how);
    for (std::size_t i = 0; i < planes.size(); ++i) {
      const std::size_t c = i / (224 * 224);
      ASSERT_EQ(planes[i], (200 / 255.0f - how.mean[c]) / how.std[c]);
    }
  }
}

TEST(Preprocess, NeedsOnlyTheCropOfAnExtremelyLongPicture) {
  RandomStream random(4, "long");
  const Image image = random_image(20000, 2, random);  // 2,560,000 x 256 if it were resized whole
  EXPECT_EQ(planes_of(image, {}).size(), 3u * 224 * 224);
}

TEST(Preprocessor, IsSharedByThreads) {
  RandomStream random(5, "threads");
  std::vector<Image> images;
  for (int i = 0; i < 16; ++i) images.push_back(random_image(32, 32, random));
  const Preprocessing how;
  const Preprocessor preprocessor(32, 32, how);
  std::vector<std::vector<float>> results(images.size(), std::vector<float>(3 * 224 * 224));
  ThreadPool pool(4);
  pool.parallel_for(images.size(), [&](std::size_t i, std::size_t) {
    preprocessor.to_planes(images[i].rgb.data(), results[i]);
  });
  for (std::size_t i = 0; i < images.size(); ++i) EXPECT_EQ(results[i], planes_of(images[i], how));
}

TEST(Preprocessing, NamesTheFieldThatMakesNoSense) {
  const auto expect_refused = [](const std::string& field, auto change) {
    Preprocessing how;
    change(how);
    test::expect_error(ErrorCode::invalid_argument, field, [&] { Preprocessor(8, 8, how); });
  };
  expect_refused("resize", [](auto& how) { how.resize = 0; });
  expect_refused("crop", [](auto& how) { how.crop = 1u << 20; });
  expect_refused("std", [](auto& how) { how.std[1] = 0; });
  expect_refused("mean", [](auto& how) { how.mean[2] = std::numeric_limits<float>::quiet_NaN(); });
}

TEST(Preprocess, RefusesPatchesThatDoNotTileThePicture) {
  std::vector<float> patches(3 * 224 * 224);
  const Preprocessor preprocessor(8, 8, {});
  const std::vector<std::uint8_t> rgb(8 * 8 * 3);
  for (const std::size_t patch : {0, 15, 448}) {
    test::expect_error(ErrorCode::invalid_argument, "patches",
                       [&] { preprocessor.to_patches(rgb.data(), patch, patches); });
  }
}

}  // namespace
}  // namespace dfrost
