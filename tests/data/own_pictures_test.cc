// Folders and lists as people have them: what is held out, what is scored, what is a class, what is a header.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/file.h"
#include "data/catalog.h"
#include "data/corpus.h"
#include "data/image_file.h"
#include "support/support.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

void write_picture(const fs::path& path) {
  fs::create_directories(path.parent_path());
  write_png(path, Image{2, 2, std::vector<std::uint8_t>(12, 90)}.view());
}

void write_class(const fs::path& folder, std::size_t pictures) {
  for (std::size_t i = 0; i < pictures; ++i) write_picture(folder / fmt::format("{}.png", i));
}

Dataset open(const fs::path& path, const std::string& name = "mine") {
  return open_dataset({.name = name, .path = path}, {});
}

std::set<std::string> names_of(const PictureSet& set) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < set.size(); ++i) names.emplace(set.name(i));
  return names;
}

std::size_t count_missing(const std::set<std::string>& from, const std::set<std::string>& in) {
  return static_cast<std::size_t>(
      std::ranges::count_if(from, [&](const auto& x) { return !in.contains(x); }));
}

TEST(HeldOutFifth, HardlyChangesWhenPicturesAreAdded) {
  const test::TemporaryFolder own;
  write_class(own / "bee", 20);
  write_class(own / "ant", 20);
  auto before = names_of(open(own.path())[Split::test]);
  EXPECT_EQ(before.size(), 8u);
  for (int more = 0; more < 12; ++more) {
    write_picture(own / fmt::format("bee/more{}.png", more));
    const auto now = names_of(open(own.path())[Split::test]);
    EXPECT_LE(count_missing(before, now), 1u) << more;
    EXPECT_LE(count_missing(now, before), 1u) << more;
    const auto ants = [](const std::set<std::string>& names) {
      return std::ranges::count_if(names, [](const auto& name) { return name.starts_with("ant/"); });
    };
    EXPECT_EQ(ants(now), ants(before));
    before = now;
  }
}

TEST(HeldOutFifth, IsTheSameUnderAnyNameOfTheSet) {
  const test::TemporaryFolder own;
  write_class(own / "bee", 20);
  write_class(own / "ant", 20);
  EXPECT_EQ(names_of(open(own.path(), "one")[Split::test]), names_of(open(own.path(), "two")[Split::test]));
}

TEST(HeldOutFifth, OfPicturesWithoutNamesGoesByTheirPlaces) {
  const auto held_out = [](std::size_t pictures) {
    Dataset dataset;
    dataset.class_names = {"a"};
    PictureSet& train = dataset[Split::train];
    for (std::size_t i = 0; i < pictures; ++i) train.bytes.push_back(static_cast<std::uint8_t>(i));
    train.records = uniform_records(pictures, 1, 1, PictureKind::grey);
    train.labels.resize(pictures);
    hold_out_test_split(dataset);
    const auto& bytes = dataset[Split::test].bytes;
    EXPECT_TRUE(dataset[Split::test].names.empty());
    return std::set<std::uint8_t>(bytes.begin(), bytes.end());
  };
  const auto before = held_out(100), now = held_out(104);
  EXPECT_EQ(before.size(), 20u);
  EXPECT_LE(std::ranges::count_if(before, [&](auto x) { return !now.contains(x); }), 4);
}

TEST(HeldOutFifth, IsOnePictureOfAClassOfThreeOrFourAndNoneOfFewer) {
  const test::TemporaryFolder own;
  for (const std::size_t pictures : {1, 2, 3, 4, 5, 9, 10, 14})
    write_class(own / std::to_string(pictures), pictures);
  const Dataset dataset = open(own.path());
  const auto held_out = count_classes(dataset[Split::test].labels, dataset.class_names.size());
  std::map<std::string, std::size_t> found;
  for (std::size_t c = 0; c < held_out.size(); ++c) found[dataset.class_names[c]] = held_out[c];
  EXPECT_EQ(found, (std::map<std::string, std::size_t>{
                       {"1", 0}, {"2", 0}, {"3", 1}, {"4", 1}, {"5", 1}, {"9", 1}, {"10", 2}, {"14", 2}}));
}

TEST(OwnPictures, OfAClassThatNobodyCanLearnAreNoted) {
  const test::TemporaryFolder own;
  for (const char* name : {"train/ant", "train/bee", "test/ant", "test/wasp", "test/fly", "val/moth"})
    write_class(own / name, 2);
  const Dataset dataset = open(own.path());
  EXPECT_EQ(dataset.notes, (Names{"only test pictures of fly, wasp: nobody can learn them",
                                  "only val pictures of moth: nobody can learn it"}));
}

TEST(OwnPictures, AreFoundByTheirEndingsAndWithoutOneByTheirFirstBytes) {
  const test::TemporaryFolder own;
  write_class(own / "bee", 1);
  const auto png = read_text_file(own / "bee/0.png");
  for (const char* name : {"one", "a.JPE", "a.jfif", "a.webp", "a.GIF", "IMG_0001"})
    write_file_atomically(own / "bee" / name, png);  // the ending need not be right
  write_file_atomically(own / "bee/README", "no picture");
  write_file_atomically(own / "bee/photo.heic", "no picture");
  write_file_atomically(own / "bee/notes.txt", "no picture");
  ASSERT_EQ(::mkfifo((own / "bee/pipe.png").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo((own / "bee/pipe").c_str(), 0600), 0);
  const Dataset dataset = open(own.path());
  EXPECT_EQ(dataset[Split::train].size() + dataset[Split::test].size(), 7u);
  std::map<std::string, std::string> skipped;
  for (const auto& file : dataset.skipped.files) skipped[fs::path(file.path).filename()] = file.reason;
  EXPECT_EQ(skipped, (std::map<std::string, std::string>{
                         {"README", "not a picture by its name"},
                         {"notes.txt", "not a picture by its name"},
                         {"photo.heic", ".heic is not read, convert it to PNG or JPEG"},
                         {"pipe", "not a picture by its name"},
                         {"pipe.png", "cannot be read"}}));
}

TEST(OwnPictures, ThatAreSkippedAreAllNamed) {
  const test::TemporaryFolder own;
  write_class(own / "bee", 3);
  for (int i = 0; i < 14; ++i) write_file_atomically(own / fmt::format("bee/bad{}.png", i), "no picture");
  const Dataset dataset = open(own.path());
  EXPECT_EQ(dataset.skipped.count(), 14u);
  EXPECT_EQ(dataset.skipped.examples().size(), 10u);
  EXPECT_NE(dataset.skipped.files.back().line().find("bad9.png"), std::string::npos);
}

// Large pictures stay encoded and are turned at every use; small ones are kept as pixels, turned.
TEST(OwnPictures, StandUprightHoweverTheyAreKeptAndAsStoredWhereAskedFor) {
  const test::TemporaryFolder own;
  test::run_python("data/make_turned_set.py", own.path().string());
  for (const auto exif : {ExifOrientation::apply, ExifOrientation::ignore}) {
    const Dataset dataset = open_dataset({.name = "mine", .path = own.path()}, {}, {.exif = exif});
    const PictureSet& set = dataset[Split::train];
    ASSERT_EQ(set.size(), 4u);
    std::set<PictureKind> kinds;
    for (std::size_t i = 0; i < set.size(); ++i) {
      kinds.insert(set.records[i].kind);
      Image scratch;
      const auto view = view_picture(set, i, scratch);
      const auto upright = read_image(own / std::string(set.name(i)), exif);
      EXPECT_EQ(set.records[i].width, upright.width);
      EXPECT_EQ(view.width, upright.width);
      EXPECT_EQ(view.width > view.height, exif == ExifOrientation::ignore);  // stored lying, meant standing
      EXPECT_TRUE(std::equal(upright.rgb.begin(), upright.rgb.end(), view.rgb));
    }
    EXPECT_EQ(kinds, (std::set{PictureKind::rgb, PictureKind::encoded}));
  }
}

TEST(CountPictures, SeesWhatIsThereWithoutReadingIt) {
  const test::TemporaryFolder own;
  write_class(own / "train/bee", 3);
  write_class(own / "test/bee", 2);
  write_class(own / "val/ant", 1);
  write_file_atomically(own / "train/bee/note.txt", "no picture");
  const auto count = [](const fs::path& path) {
    return count_pictures(*locate_dataset({.name = "mine", .path = path}, {}));
  };
  EXPECT_EQ(count(own.path()), (SplitCounts{3, 1, 2}));
  write_file_atomically(own / "list.csv",
                        "path,label\ntrain/bee/0.png,bee\ngone.png,bee\ntest/bee/0.png,bee,test\n");
  EXPECT_EQ(count(own / "list.csv"), (SplitCounts{1, 0, 1}));
}

TEST(OwnPictures, InALoneTestFolderAreAllToBeScored) {
  const test::TemporaryFolder own;
  write_class(own / "test/bee", 10);
  write_class(own / "test/ant", 10);
  const Dataset dataset = open(own.path());
  EXPECT_EQ(dataset[Split::test].size(), 20u);
  EXPECT_EQ(dataset[Split::train].size(), 0u);
  EXPECT_TRUE(dataset.notes.empty());
  write_file_atomically(own / "list.csv", "test/bee/0.png,bee,test\ntest/ant/0.png,ant,test\n");
  EXPECT_EQ(open(own / "list.csv")[Split::test].size(), 2u);
}

TEST(OwnPictures, WithNothingToTrainOnMayBeScoredAndNotTrainedOn) {
  const test::TemporaryFolder own;
  write_class(own / "test/bee", 10);
  write_class(own / "test/ant", 10);
  CorpusOptions options;
  options.domains = {{.name = "mine", .path = own.path()}};
  options.train_per_domain = options.test_per_domain = 0;
  test::expect_error(ErrorCode::failed_precondition, "mine has no training pictures, only 20 to test with",
                     [&] { open_corpus(options); });
  options.test_only = true;
  const Corpus corpus = open_corpus(options);
  EXPECT_EQ(corpus.test.size(), 20u);
  EXPECT_EQ(corpus.train.size(), 0u);
}

TEST(OwnPictures, InALoneTrainOrValFolderAreToTrainOn) {
  for (const char* split : {"train", "val"}) {
    const test::TemporaryFolder own;
    write_class(own / split / "bee", 10);
    EXPECT_EQ(open(own.path())[Split::train].size(), 8u) << split;
    EXPECT_EQ(open(own.path())[Split::test].size(), 2u) << split;
  }
}

TEST(OwnPictures, MakeNoClassOfAFolderWithoutPictures) {
  const test::TemporaryFolder own;
  write_class(own / "bee", 5);
  write_class(own / "wasp", 5);
  write_class(own / "__MACOSX/bee", 5);
  write_class(own / "bee/.thumbnails", 5);
  fs::create_directories(own / "empty class");
  fs::create_directories(own / "broken");
  write_file_atomically(own / "broken/a.png", "no picture");
  const Dataset dataset = open(own.path());
  EXPECT_EQ(dataset.class_names, (Names{"bee", "wasp"}));
  EXPECT_EQ(dataset.notes.front(), "left out: broken, empty class, which hold no pictures");
  EXPECT_EQ(count_classes(dataset[Split::train].labels, 2), (std::vector<std::size_t>{4, 4}));
  EXPECT_EQ(dataset.skipped.count(), 1u);
}

TEST(OwnPictures, MakeNoClassOfTheHeaderOfAList) {
  const test::TemporaryFolder own;
  write_class(own / "image", 5);
  fs::copy(own / "image/0.png", own / "without_ending");
  const std::string lines = "image/0.png,bee\nimage/1.png,ant\n";
  for (const char* header :
       {"path,label", "Path,Label", "image_path,category", "IMAGE,CLASS", "Bild,Klasse"}) {
    write_file_atomically(own / "list.csv", fmt::format("{}\n{}", header, lines));
    const Dataset dataset = open(own / "list.csv");
    EXPECT_EQ(dataset.class_names, (Names{"ant", "bee"})) << header;
    EXPECT_EQ(dataset.skipped.count(), 0u) << header;
  }
  write_file_atomically(own / "list.csv", "File Name,Kind,Part\nimage/0.png,bee,test\n");
  EXPECT_EQ(open(own / "list.csv").class_names, Names{"bee"});
  for (const char* first : {"without_ending", "image/4.png"}) {
    write_file_atomically(own / "list.csv", fmt::format("{},wasp\n{}", first, lines));
    EXPECT_EQ(open(own / "list.csv").class_names.size(), 3u) << first;
  }
}

}  // namespace
}  // namespace dfrost
