// Every reader against data sets written by NumPy, SciPy and Pillow, and against files that are wrong.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "base/file.h"
#include "data/catalog.h"
#include "data/cifar.h"
#include "data/idx.h"
#include "data/image_file.h"
#include "data/label_list.h"
#include "data/mat_file.h"
#include "data/picture_files.h"
#include "data/svhn.h"
#include "support/support.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

std::string rgb_of(const PictureSet& set) {
  std::string all;
  Image scratch;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const ImageView view = view_picture(set, i, scratch);
    all.append(reinterpret_cast<const char*>(view.rgb), 3 * view.width * view.height);
  }
  return all;
}

std::string labels_of(const PictureSet& set) { return {set.labels.begin(), set.labels.end()}; }

// The sets of make_sets.py, written once for all tests.
class Readers : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new test::TemporaryFolder;
    test::run_python("data/make_sets.py", folder_->path().string());
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }

  static fs::path path(const std::string& name) { return *folder_ / name; }

  static Dataset open(const std::string& name, const std::string& layout, const std::string& file = {}) {
    ThreadPool pool(3);
    return open_dataset({.name = name, .path = path(layout) / file}, {}, {.pool = &pool});
  }

  static void expect_as_written(const Dataset& dataset, const std::string& layout) {
    for (const Split split : kSplits) {
      const auto stem = fmt::format("{}.{}", layout, to_string(split));
      if (!fs::exists(path(stem + ".rgb"))) {
        EXPECT_EQ(dataset[split].size(), 0u);
        continue;
      }
      EXPECT_EQ(rgb_of(dataset[split]), read_text_file(path(stem + ".rgb"))) << stem;
      EXPECT_EQ(labels_of(dataset[split]), read_text_file(path(stem + ".labels"))) << stem;
    }
  }

  static test::TemporaryFolder* folder_;
};

test::TemporaryFolder* Readers::folder_ = nullptr;

TEST_F(Readers, ReadPlainAndGzippedIdx) {
  for (const char* layout : {"idx", "idx-gz"}) {
    const Dataset dataset = open("mnist", layout);
    EXPECT_EQ(dataset.format, "idx");
    EXPECT_EQ(dataset[Split::train].records[0].kind, PictureKind::grey);  // one byte a pixel in memory
    expect_as_written(dataset, layout);
  }
}

TEST_F(Readers, ReadCifarBatches) { expect_as_written(open("cifar10", "cifar"), "cifar"); }
TEST_F(Readers, ReadThePngBatchesOfTheNpmPackage) {
  expect_as_written(open("cifar10", "cifar-png"), "cifar-png");
}
TEST_F(Readers, ReadPlainAndGzippedRecords) { expect_as_written(open("svhn", "records"), "records"); }

TEST_F(Readers, ReadSvhnMatFilesAsSciPyWritesThem) {
  // Label 10 is the digit 0: make_sets.py writes it so and expects 0.
  expect_as_written(open("svhn", "svhn-mat"), "svhn-mat");
  expect_as_written(open("svhn", "svhn-mat-plain"), "svhn-mat-plain");
}

TEST_F(Readers, ReadMnistMByItsLabelLists) { expect_as_written(open("mnist-m", "mnist-m"), "mnist-m"); }

TEST_F(Readers, ReadAnyImageFolderWithItsThreeSplits) {
  const Dataset dataset = open("mine", "folder");
  EXPECT_EQ(dataset.class_names.size(), 10u);
  EXPECT_EQ(dataset.class_names[3], "class 3");
  expect_as_written(dataset, "folder");
}

TEST_F(Readers, TakeAFolderOfPicturesCalledTrainForAClass) {
  const test::TemporaryFolder own;
  const auto picture = path("folder") / "train/class 3";
  for (const char* name : {"car", "train", "test"}) fs::copy(picture, own / name);
  const Dataset dataset = open_dataset({.name = "vehicles", .path = own.path()}, {});
  EXPECT_EQ(dataset.class_names, (std::vector<std::string>{"car", "test", "train"}));
}

TEST_F(Readers, RefuseAClassWhoseNameNoRecordCouldHold) {
  const test::TemporaryFolder own;
  for (const char* name : {"dog", "caf\xe9"}) fs::copy(path("folder") / "train/class 3", own / name);
  test::expect_error(ErrorCode::data_loss, "not UTF-8",
                     [&] { open_dataset({.name = "mine", .path = own.path()}, {}); });
}

TEST_F(Readers, ReadTheFoldersOfCinicAndMmafedb) {
  for (const char* name : {"cinic10", "mmafedb"}) {
    const Dataset dataset = open(name, name);
    EXPECT_EQ(dataset.class_names, find_dataset_info(name)->class_names);
    EXPECT_EQ(dataset.skipped.count(), 0u);
    expect_as_written(dataset, name);
  }
}

TEST_F(Readers, ReadAnyCsvOfPathAndLabel) {
  const Dataset dataset = open("mine", "csv", "list.csv");
  EXPECT_EQ(dataset.class_names[3], "the \"3\"");
  expect_as_written(dataset, "csv");
}

TEST_F(Readers, SkipAndCountBrokenLettersOfNotMnist) {
  const Dataset dataset = open("notmnist", "notmnist");
  expect_as_written(dataset, "notmnist");
  EXPECT_EQ(dataset.skipped.count(), 3u);
  EXPECT_EQ(dataset.skipped.reasons.at("empty file"), 1u);
  EXPECT_EQ(dataset.skipped.reasons.at("cannot be decoded"), 1u);
  EXPECT_EQ(dataset.skipped.reasons.at("not a picture by its name"), 1u);
  EXPECT_EQ(dataset.skipped.examples().size(), 3u);
}

TEST_F(Readers, GiveTheSameSetAtAnyNumberOfThreads) {
  for (const char* layout : {"folder", "cifar-png", "notmnist"}) {
    const DomainSpec spec{.name = "mine", .path = path(layout)};
    const Dataset alone = open_dataset(spec, {});
    for (const std::size_t threads : {2, 5}) {
      ThreadPool pool(threads);
      const Dataset together = open_dataset(spec, {}, {.pool = &pool});
      EXPECT_EQ(together[Split::train].bytes, alone[Split::train].bytes);
      EXPECT_EQ(together[Split::train].labels, alone[Split::train].labels);
      EXPECT_EQ(together.skipped.examples(), alone.skipped.examples());
    }
  }
}

// For every layout, what a look at headers and names counts is what reading finds, before any is held out.
TEST_F(Readers, CountWhatTheyWouldRead) {
  for (const char* place : {"idx", "idx-gz", "cifar", "cifar-png", "svhn-mat", "svhn-mat-plain", "records",
                            "mnist-m", "csv/list.csv", "folder"}) {
    SCOPED_TRACE(place);
    const DomainSpec spec{.name = "mine", .path = path(place)};
    const auto counts = count_pictures(*locate_dataset(spec, {}));
    const Dataset dataset = open_dataset(spec, {});
    std::size_t read = 0, counted = 0;
    for (const auto& set : dataset.splits) read += set.size();
    for (const std::size_t count : counts) counted += count;
    EXPECT_EQ(counted, read);
    EXPECT_GT(counted, 0u);
    if (counts[static_cast<std::size_t>(Split::test)] == 0) continue;
    for (const Split split : kSplits)
      EXPECT_EQ(counts[static_cast<std::size_t>(split)], dataset[split].size()) << to_string(split);
  }
}

// A million bytes were free for each variable, so that thousands of them took gigabytes.
TEST(MatFile, InflatesOnlyWhatIsWantedOfIt) {
  const test::TemporaryFolder folder;
  test::run_python("data/many_variables.py", (folder / "many.mat").string());
  const std::string file = read_text_file(folder / "many.mat");
  const auto bytes = std::as_bytes(std::span(file));
  EXPECT_TRUE(parse_mat(bytes, "many.mat", {"X"}).empty());
  EXPECT_EQ(parse_mat(bytes, "many.mat", {"y"}).at("y").values.size(), 5u);
  EXPECT_EQ(mat_dimensions(bytes, "many.mat", "y"), (std::vector<std::size_t>{1, 5}));
  test::expect_error(ErrorCode::data_loss, "two variables twice",
                     [&] { parse_mat(bytes, "many.mat", {"twice"}); });
}

TEST_F(Readers, RefuseAFolderWithOtherClassesUnderAKnownName) {
  test::expect_error(ErrorCode::data_loss, "not those of CINIC-10", [&] { open("cinic10", "folder"); });
}

TEST_F(Readers, NameFileAndOffsetOfACorruptedByteInEveryFormat) {
  const auto spoil = [&](const std::string& file, std::size_t at, char value) {
    std::fstream stream(path(file), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(static_cast<std::streamoff>(at));
    stream.put(value);
  };
  const test::TemporaryFolder copy;
  fs::copy(folder_->path(), copy.path(), fs::copy_options::recursive);
  const auto expect_refused = [&](const std::string& name, const std::string& layout,
                                  const std::string& place) {
    test::expect_error(ErrorCode::data_loss, place, [&] { open(name, layout); });
  };
  spoil("idx/train-labels-idx1-ubyte", 8 + 5, 77);
  expect_refused("mnist", "idx", "train-labels-idx1-ubyte, byte 13");
  spoil("cifar/cifar-10-batches-bin/data_batch_3.bin", 2 * 3073, 10);
  expect_refused("cifar10", "cifar", "data_batch_3.bin, byte 6146");
  spoil("idx-gz/train-images-idx3-ubyte.gz", 5000, 1);
  expect_refused("mnist", "idx-gz", "train-images-idx3-ubyte.gz, byte");
  spoil("svhn-mat-plain/train_32x32.mat", 126, 'X');
  expect_refused("svhn", "svhn-mat-plain", "train_32x32.mat, byte 126");
  spoil("cifar-png/train_lables.json", 1, 'x');
  expect_refused("cifar10", "cifar-png", "train_lables.json, line 1");
  spoil("mnist-m/mnist_m_test_labels.txt", 13, 'x');
  expect_refused("mnist-m", "mnist-m", "mnist_m_test_labels.txt, line 1");
  for (const auto& entry : fs::directory_iterator(folder_->path())) fs::remove_all(entry.path());
  fs::copy(copy.path(), folder_->path(), fs::copy_options::recursive);
}

TEST_F(Readers, RefuseEveryTruncationOfEveryBinaryFormat) {
  const auto refuses = [&](const std::string& file,
                           const std::function<void(std::span<const std::byte>)>& parse) {
    const std::string whole = read_text_file(path(file));
    const auto bytes = std::as_bytes(std::span(whole));
    EXPECT_NO_THROW(parse(bytes)) << file;
    for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{129},
                                     bytes.size() / 2 + 1, bytes.size() - 1}) {
      EXPECT_THROW(parse(bytes.first(length)), Error) << file << " cut to " << length;
    }
  };
  const std::vector<std::uint8_t> labels = [&] {
    const std::string text = read_text_file(path("idx/train-labels-idx1-ubyte"));
    return std::vector<std::uint8_t>(text.begin(), text.end());
  }();
  const auto to_vector = [](std::span<const std::byte> bytes) {
    const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
    return std::vector<std::uint8_t>(first, first + bytes.size());
  };
  refuses("idx/train-images-idx3-ubyte",
          [&](auto bytes) { parse_idx(to_vector(bytes), "images", labels, "labels", 10); });
  refuses("records/test.bin", [&](auto bytes) { parse_cifar_records(to_vector(bytes), "records", 10); });
  refuses("svhn-mat/train_32x32.mat", [](auto bytes) { parse_svhn_mat(bytes, "mat"); });
  refuses("svhn-mat-plain/test_32x32.mat", [](auto bytes) { parse_svhn_mat(bytes, "mat"); });
}

TEST(LabelJson, NamesTheEntryThatIsNoLabel) {
  const auto refused = [](std::string_view text, const std::string& part) {
    test::expect_error(ErrorCode::data_loss, part, [&] { parse_label_json(text, "labels.json", 10); });
  };
  refused("[1, 2, 10]", "labels.json, entry 2");
  refused("[1, -2]", "entry 1");
  refused("[1, 2.5]", "entry 1");
  refused("[[1]]", "entry 0");
  refused("{}", "not a list of labels");
  refused("[1E44441]", "too large");  // found by the fuzzer: it left the parser as another exception
  EXPECT_EQ(parse_label_json("[1, 9, 0]", "labels.json", 10), (std::vector<int>{1, 9, 0}));
}

TEST(Csv, NamesTheLineOfWhatItCannotRead) {
  const auto refused = [](std::string_view text, const std::string& part) {
    test::expect_error(ErrorCode::data_loss, part, [&] { parse_csv_list(text, "list.csv", {}); });
  };
  refused("a.png,cat\nb.png\n", "line 2: has 1 fields");
  refused("a.png,cat\n\"b.png,dog\n", "line 2: a quote is opened");
  refused("a.png,cat\n\"b\"x,dog\n", "list.csv, byte 10");
  refused("path,label,split\na.png,cat,trian\n", "'trian' is not train, val or test");
  refused("a.png,\n", "empty path or label");
}

TEST(Csv, RepeatsNoFieldWithoutEndToWhoeverReadsTheError) {
  const std::string endless(std::size_t{4} << 20, 'x');
  for (const auto& text : {"a.png,cat," + endless, "a.png," + endless, endless + ",cat",
                           "\"" + endless + "\",cat", "a.png,cat," + endless.substr(0, 60'000)}) {
    try {
      parse_csv_list(text, "list.csv", ".");
      ADD_FAILURE() << "taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::data_loss);
      EXPECT_LT(std::string(error.what()).size() + error.hint().size(), 1'000u);
    }
  }
}

TEST(Csv, ReadsQuotesBlankLinesAndWindowsLineEndings) {
  const auto list = parse_csv_list(
      "\xEF\xBB\xBFpath,label\r\n\"a,b.png\",\"say \"\"x\"\"\"\r\n\r\nc.png,2,test\r\n", "list", {});
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].path, "a,b.png");
  EXPECT_EQ(list[0].label, "say \"x\"");
  EXPECT_EQ(list[1].split, Split::test);
  EXPECT_EQ(list[1].line, 4u);
}

TEST(PictureFiles, KeepLargePhotographsEncodedAndShowThemDecoded) {
  const test::TemporaryFolder folder;
  Image photo{300, 200, std::vector<std::uint8_t>(300 * 200 * 3, 90)};
  photo.rgb[5] = 7;
  write_png(folder / "photo.png", photo.view());
  SkippedFiles skipped;
  const std::vector<LabelledFile> files = {{folder / "photo.png", 0}, {folder / "gone.png", 1}};
  const PictureSet set = read_picture_files(files, {}, skipped);
  ASSERT_EQ(set.size(), 1u);
  EXPECT_EQ(set.records[0].kind, PictureKind::encoded);
  EXPECT_LT(set.bytes.size(), 5000u);
  Image scratch;
  const ImageView view = view_picture(set, 0, scratch);
  EXPECT_EQ(std::memcmp(view.rgb, photo.rgb.data(), photo.rgb.size()), 0);
  EXPECT_EQ(skipped.reasons.at("no such file"), 1u);
}

TEST(PictureFiles, StopAtTheMemoryLimit) {
  const test::TemporaryFolder folder;
  const Image image{20, 20, std::vector<std::uint8_t>(1200, 3)};
  write_png(folder / "a.png", image.view());
  const std::vector<LabelledFile> files(10, {folder / "a.png", 0});
  SkippedFiles skipped;
  test::expect_error(ErrorCode::resource_exhausted, "over the limit", [&] {
    read_picture_files(files, {.pool = nullptr, .memory_limit_bytes = 3999}, skipped);
  });
  EXPECT_EQ(read_picture_files(files, {.pool = nullptr, .memory_limit_bytes = 4000}, skipped).size(), 10u);
}

TEST(LocateDataset, NamesTheFilesThatAWholeSetHasBesides) {
  const test::TemporaryFolder folder;
  const auto missing = [&] { return locate_dataset({.name = "mnist"}, folder.path())->missing; };
  fs::create_directories(folder / "mnist");
  write_file_atomically(folder / "mnist/train-images-idx3-ubyte.gz", "");
  EXPECT_EQ(missing(), (std::vector<std::string>{"train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
                                                 "t10k-labels-idx1-ubyte"}));
  for (const char* name : {"train-labels.idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte.gz"})
    write_file_atomically(folder / "mnist" / name, "");
  EXPECT_TRUE(missing().empty());
}

TEST(OpenDataset, SaysWhichFileToPutWhere) {
  test::expect_error(ErrorCode::not_found, "train-images-idx3-ubyte",
                     [] { open_dataset({.name = "mnist"}, "/nowhere"); });
  test::expect_error(ErrorCode::invalid_argument, "did you mean 'mnist'",
                     [] { open_dataset({.name = "minst"}, "/nowhere"); });
  test::expect_error(ErrorCode::not_found, "/nowhere/at/all does not exist",
                     [] { open_dataset({.name = "mine", .path = "/nowhere/at/all"}, ""); });
  test::expect_error(ErrorCode::invalid_argument, "did you mean 'idx'", [] {
    open_dataset({.name = "mine", .path = "/nowhere", .format = "idy", .train = {}, .test = {}}, "");
  });
}

}  // namespace
}  // namespace dfrost
