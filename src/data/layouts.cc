#include "data/layouts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "base/suggest.h"
#include "data/cifar.h"
#include "data/count_pictures.h"
#include "data/idx.h"
#include "data/image_folder.h"
#include "data/label_list.h"
#include "data/svhn.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

constexpr std::size_t kMaxLabel = 256;  // a label byte

// The first of `names` that is a file in `folder`, plain or .gz.
std::optional<fs::path> find_file(const fs::path& folder, const Names& names) {
  for (const auto& name : names) {
    for (const char* ending : {"", ".gz"}) {
      const fs::path path = folder / (name + ending);
      if (fs::is_regular_file(path)) return path;
    }
  }
  return std::nullopt;
}

fs::path require_file(const fs::path& folder, const Names& names) {
  if (const auto found = find_file(folder, names)) return *found;
  throw Error(ErrorCode::not_found, fmt::format("{} is missing", (folder / names[0]).string()))
      .at(folder.string());
}

// `place` or one of its subfolders, the first in which one of the files is.
auto finder(const Names& subfolders, const Names& files) {
  return [=](const fs::path& place) -> std::optional<fs::path> {
    if (find_file(place, files)) return place;
    for (const auto& sub : subfolders) {
      if (find_file(place / sub, files)) return place / sub;
    }
    return std::nullopt;
  };
}

// Names for classes that have only numbers: as many as the largest label asks for.
Names class_names_or_numbers(const Names& known, const Dataset& dataset) {
  if (!known.empty()) return known;
  int largest = 0;
  for (const PictureSet& set : dataset.splits) {
    for (const int label : set.labels) largest = std::max(largest, label);
  }
  Names names;
  for (int label = 0; label <= largest; ++label) names.push_back(std::to_string(label));
  return names;
}

const Names kTrainImages = {"train-images-idx3-ubyte", "train-images.idx3-ubyte"};
const Names kTrainLabels = {"train-labels-idx1-ubyte", "train-labels.idx1-ubyte"};
const Names kTestImages = {"t10k-images-idx3-ubyte", "t10k-images.idx3-ubyte"};
const Names kTestLabels = {"t10k-labels-idx1-ubyte", "t10k-labels.idx1-ubyte"};

// The package spells it so.
const Names kTrainLabelJson = {"train_lables.json", "train_labels.json"};
const Names kTestLabelJson = {"test_lables.json", "test_labels.json"};

Dataset read_idx_set(const fs::path& folder, const Names& class_names, const ReadOptions& options) {
  const std::size_t classes = class_names.empty() ? kMaxLabel : class_names.size();
  const bool has_train = find_file(folder, kTrainImages).has_value();
  const bool has_test = find_file(folder, kTestImages).has_value();
  Dataset dataset;
  parallel_for(options, 2, [&](std::size_t which, std::size_t) {
    if (which == 0 && has_train) {
      dataset[Split::train] =
          read_idx(require_file(folder, kTrainImages), require_file(folder, kTrainLabels), classes);
    }
    if (which == 1 && has_test) {
      // A set with one pair of files is a training set, whatever the pair is called.
      dataset[has_train ? Split::test : Split::train] =
          read_idx(require_file(folder, kTestImages), require_file(folder, kTestLabels), classes);
    }
  });
  dataset.class_names = class_names_or_numbers(class_names, dataset);
  return dataset;
}

Dataset read_cifar_set(const fs::path& folder, const Names& class_names, const ReadOptions& options) {
  const std::size_t classes = class_names.empty() ? kMaxLabel : class_names.size();
  std::vector<fs::path> files;
  for (int batch = 1; batch <= 5; ++batch) {
    files.push_back(require_file(folder, {fmt::format("data_batch_{}.bin", batch)}));
  }
  files.push_back(require_file(folder, {"test_batch.bin"}));
  std::vector<PictureSet> sets(files.size());
  parallel_for(options, files.size(),
               [&](std::size_t i, std::size_t) { sets[i] = read_cifar_records(files[i], classes); });
  Dataset dataset;
  dataset[Split::test] = std::move(sets.back());
  sets.pop_back();
  for (auto& set : sets) append_set(dataset[Split::train], std::move(set));
  dataset.class_names = class_names_or_numbers(class_names, dataset);
  return dataset;
}

// Joins batches, whose pictures follow each other as the labels do.
PictureSet join_batches(std::span<PictureSet> batches, const fs::path& label_file, std::size_t classes) {
  PictureSet all;
  for (auto& batch : batches) append_set(all, std::move(batch));
  all.labels = parse_label_json(read_text_file(label_file), label_file.string(), classes);
  if (all.labels.size() != all.records.size()) {
    throw Error(ErrorCode::data_loss, fmt::format("{} has {} labels for {} pictures", label_file.string(),
                                                  all.labels.size(), all.records.size()))
        .at(label_file.string());
  }
  return all;
}

Dataset read_cifar_png_set(const fs::path& folder, const Names& class_names, const ReadOptions& options) {
  const std::size_t classes = class_names.empty() ? kMaxLabel : class_names.size();
  std::vector<fs::path> files;
  for (int batch = 1; batch <= 5; ++batch) {
    files.push_back(require_file(folder, {fmt::format("data_batch_{}.png", batch)}));
  }
  files.push_back(require_file(folder, {"test_batch.png"}));
  std::vector<PictureSet> sets(files.size());
  parallel_for(options, files.size(),
               [&](std::size_t i, std::size_t) { sets[i] = read_cifar_png_batch(files[i]); });
  Dataset dataset;
  dataset[Split::train] =
      join_batches(std::span(sets).first(5), require_file(folder, kTrainLabelJson), classes);
  dataset[Split::test] = join_batches(std::span(sets).last(1), require_file(folder, kTestLabelJson), classes);
  dataset.class_names = class_names_or_numbers(class_names, dataset);
  return dataset;
}

Dataset read_svhn_set(const fs::path& folder, const Names&, const ReadOptions& options) {
  Dataset dataset;
  parallel_for(options, 2, [&](std::size_t which, std::size_t) {
    const Split split = which == 0 ? Split::train : Split::test;
    dataset[split] = read_svhn_mat(require_file(folder, {fmt::format("{}_32x32.mat", to_string(split))}));
  });
  for (int digit = 0; digit < 10; ++digit) dataset.class_names.push_back(std::to_string(digit));
  return dataset;
}

Dataset read_records_set(const fs::path& folder, const Names& class_names, const ReadOptions& options) {
  const std::size_t classes = class_names.empty() ? kMaxLabel : class_names.size();
  Dataset dataset;
  parallel_for(options, kSplits.size(), [&](std::size_t which, std::size_t) {
    const auto file = find_file(folder, {fmt::format("{}.bin", to_string(kSplits[which]))});
    if (file) dataset.splits[which] = read_cifar_records(*file, classes);
  });
  dataset.class_names = class_names_or_numbers(class_names, dataset);
  return dataset;
}

auto place_if(bool (*matches)(const fs::path&)) {
  return [matches](const fs::path& place) -> std::optional<fs::path> {
    return matches(place) ? std::optional(place) : std::nullopt;
  };
}

Names any_idx_images() {
  Names names = kTrainImages;
  names.insert(names.end(), kTestImages.begin(), kTestImages.end());
  return names;
}

std::vector<Names> cifar_files(const std::string& ending) {
  std::vector<Names> files;
  for (int batch = 1; batch <= 5; ++batch) files.push_back({fmt::format("data_batch_{}{}", batch, ending)});
  files.push_back({"test_batch" + ending});
  return files;
}

std::vector<Names> with_labels(std::vector<Names> files) {
  files.push_back(kTrainLabelJson);
  files.push_back(kTestLabelJson);
  return files;
}

std::optional<fs::path> find_mnist_m(const fs::path& place) {
  for (const fs::path& folder : {place, place / "mnist_m"}) {
    if (is_mnist_m(folder)) return folder;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> Layout::missing_at(const fs::path& path) const {
  std::vector<std::string> missing;
  for (const auto& names : files) {
    if (!find_file(path, names)) missing.push_back(names.front());
  }
  return missing;
}

std::span<const Layout> layouts() {
  static const std::vector<Layout> all = {
      {"idx",
       finder({"raw", "data", "package/data"}, any_idx_images()),
       read_idx_set,
       {kTrainImages, kTrainLabels, kTestImages, kTestLabels}},
      {"cifar", finder({"cifar-10-batches-bin"}, {"data_batch_1.bin"}), read_cifar_set, cifar_files(".bin")},
      {"cifar-png", finder({"package"}, {"data_batch_1.png"}), read_cifar_png_set,
       with_labels(cifar_files(".png"))},
      {"svhn-mat", finder({}, {"train_32x32.mat"}), read_svhn_set, {{"train_32x32.mat"}, {"test_32x32.mat"}}},
      {"records", finder({}, {"train.bin"}), read_records_set, {{"train.bin"}, {"test.bin"}}},
      {"mnist-m",
       find_mnist_m,
       [](const fs::path& path, const Names&, const ReadOptions& options) {
         return read_mnist_m(path, options);
       },
       {{"mnist_m_train_labels.txt"}, {"mnist_m_test_labels.txt"}}},
      {"csv",
       place_if(is_csv_set),
       [](const fs::path& path, const Names&, const ReadOptions& options) { return read_csv(path, options); },
       {}},
      {"folder",
       place_if(is_image_folder),
       [](const fs::path& path, const Names&, const ReadOptions& options) {
         return read_image_folder(path, options);
       },
       {}},
  };
  return all;
}

const Layout& find_layout(std::string_view name) {
  Names names;
  for (const Layout& layout : layouts()) {
    if (layout.name == name) return layout;
    names.push_back(layout.name);
  }
  throw Error(ErrorCode::invalid_argument, fmt::format("there is no data format called '{}'", name),
              did_you_mean(name, names, fmt::format("known are {}", fmt::join(names, ", "))));
}

namespace {

std::size_t& at(SplitCounts& counts, Split split) { return counts[static_cast<std::size_t>(split)]; }

SplitCounts count_idx_set(const fs::path& folder) {
  SplitCounts counts{};
  const auto train = find_file(folder, kTrainImages);
  if (train) at(counts, Split::train) = count_idx(*train);
  if (const auto test = find_file(folder, kTestImages))
    at(counts, train ? Split::test : Split::train) = count_idx(*test);
  return counts;
}

// Five batches and a test batch; those that are there.
template <std::size_t (*kCount)(const fs::path&)>
SplitCounts count_cifar_batches(const fs::path& folder, std::string_view ending) {
  SplitCounts counts{};
  for (int batch = 1; batch <= 5; ++batch) {
    if (const auto file = find_file(folder, {fmt::format("data_batch_{}{}", batch, ending)}))
      at(counts, Split::train) += kCount(*file);
  }
  if (const auto file = find_file(folder, {fmt::format("test_batch{}", ending)}))
    at(counts, Split::test) = kCount(*file);
  return counts;
}

// A file for each split, named with this behind the split's name.
template <std::size_t (*kCount)(const fs::path&)>
SplitCounts count_split_files(const fs::path& folder, std::string_view ending) {
  SplitCounts counts{};
  for (const Split split : kSplits) {
    if (const auto file = find_file(folder, {fmt::format("{}{}", to_string(split), ending)}))
      at(counts, split) = kCount(*file);
  }
  return counts;
}

}  // namespace

SplitCounts count_pictures_at(const fs::path& path, std::string_view format) {
  if (format == "idx") return count_idx_set(path);
  if (format == "cifar") return count_cifar_batches<count_cifar_records>(path, ".bin");
  if (format == "cifar-png") return count_cifar_batches<count_cifar_png>(path, ".png");
  if (format == "svhn-mat") return count_split_files<count_svhn_mat>(path, "_32x32.mat");
  if (format == "records") return count_split_files<count_cifar_records>(path, ".bin");
  if (format == "mnist-m") return count_mnist_m(path);
  if (format == "csv") return count_csv(path);
  find_layout(format);  // an unknown name is an error
  return count_image_folder(path);
}

}  // namespace dfrost
