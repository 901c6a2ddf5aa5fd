#include "backbone/backbone_names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "base/file.h"
#include "data/preprocess.h"
#include "support/support.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

// Names are looked for in a folder of the test's own.
class BackboneNames : public testing::Test {
 protected:
  void SetUp() override {
    const char* named = std::getenv("DFROST_BACKBONES");
    if (named != nullptr) before_ = named;
    ::setenv("DFROST_BACKBONES", (folder_ / "own").c_str(), 1);
  }
  void TearDown() override {
    before_ ? ::setenv("DFROST_BACKBONES", before_->c_str(), 1) : ::unsetenv("DFROST_BACKBONES");
  }
  fs::path file(const std::string& name) const {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    write_file_atomically(path, "");
    return path;
  }

  test::TemporaryFolder folder_;

 private:
  std::optional<std::string> before_;
};

TEST_F(BackboneNames, LeadToTheOneFileThatWasFetchedOrToTheFolderOfSeveral) {
  const auto single = file("own/vit-b32/vit_b_32-d86f8d99.pth");
  file("own/vit-b32/notes.txt");
  file("own/vit-b32/moments-224.safetensors");  // beside it, not part of it
  EXPECT_EQ(find_backbone("vit-b32"), single);
  file("own/sharded/model-1.safetensors");
  file("own/sharded/model-2.safetensors");
  EXPECT_EQ(find_backbone("sharded"), folder_ / "own/sharded");
}

TEST_F(BackboneNames, LeadToFoldersThatWereAddedButFirstToTheUsersOwn) {
  file("shipped/snow/model.safetensors");
  add_backbone_folder(folder_ / "shipped");
  EXPECT_EQ(find_backbone("snow"), folder_ / "shipped/snow");
  EXPECT_EQ(std::ranges::count(shipped_backbones(), "snow"), 1);
  const auto own = file("own/snow/model.safetensors");
  EXPECT_EQ(find_backbone("snow"), own);
}

TEST_F(BackboneNames, AreNotPathsAndNotMadeUp) {
  EXPECT_EQ(find_backbone("some/where.pth"), "some/where.pth");
  file("own/rain/model.safetensors");
  test::expect_error(ErrorCode::not_found, "did you mean 'rain'", [] { find_backbone("raim"); });
  test::expect_error(ErrorCode::not_found, "there is no backbone 'hail'", [] { load_backbone("hail"); });
}

TEST(BackboneName, HasNeitherSlashNorDot) {
  EXPECT_TRUE(is_backbone_name("deit-tiny"));
  EXPECT_FALSE(is_backbone_name("models/deit"));
  EXPECT_FALSE(is_backbone_name("deit.safetensors"));
}

TEST(FrostMini, ComesByItsNameWithItsPreprocessing) {
  add_backbone_folder(fs::path(DFROST_SOURCE_DIR) / "share/dfrost/backbones");
  const auto backbone = load_backbone("frost-mini", {.training = false});
  const auto how = load_preprocessing("frost-mini");
  EXPECT_EQ(how.crop, backbone->geometry().image_size);
  EXPECT_EQ(load_preprocessing("frost-mini", 32).crop, 32u);
}

TEST(Preprocess, OfABatchIsThatOfEachPicture) {
  Geometry g{.width = 8, .depth = 1, .heads = 1, .mlp_width = 8, .patch_size = 8, .image_size = 16};
  const Preprocessing how{.resize = 20, .crop = 16};
  std::vector<std::uint8_t> bytes(3 * 30 * 25);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 7);
  const std::vector<ImageView> pictures = {{bytes.data(), 30, 25}, {bytes.data(), 25, 30}};
  ThreadPool threads(2);
  const auto batch = preprocess(pictures, how, g, &threads);
  EXPECT_EQ(batch, preprocess(pictures, how, g));
  std::vector<float> second(g.patches() * g.patch_values());
  preprocess_to_patches(pictures[1], how, g.patch_size, second);
  EXPECT_TRUE(std::ranges::equal(std::span(batch).last(second.size()), second));
  g.image_size = 32;
  test::expect_error(ErrorCode::failed_precondition, "the model takes 32",
                     [&] { preprocess(pictures, how, g); });
  const std::vector<ImageView> nothing = {{}};
  g.image_size = 16;
  test::expect_error(ErrorCode::invalid_argument, "without pixels", [&] { preprocess(nothing, how, g); });
}

}  // namespace
}  // namespace dfrost
