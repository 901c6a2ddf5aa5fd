#include "data/label_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "base/file.h"
#include "base/quote.h"
#include "base/text.h"
#include "data/csv_reader.h"
#include "data/image_folder.h"
#include "data/picture_files.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxListBytes = std::size_t{1} << 30;

constexpr std::string_view kCsvHint =
    "each line is path,label or path,label,split; quote a field that has a comma in it";

bool is_header(const std::string& first_field, const fs::path& folder) {
  const std::string_view names[] = {"path", "file", "filename", "image", "picture"};
  if (std::ranges::find(names, lower_case(first_field)) != std::end(names)) return true;
  std::error_code unreadable;
  return !first_field.empty() && !has_picture_name(first_field) &&
         !fs::is_regular_file(folder / first_field, unreadable);
}

std::optional<long> to_number(const std::string& text) {
  long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Labels that are all whole numbers sort as numbers ("2" before "10"), others as text.
std::vector<std::string> sorted_labels(std::span<const ListedPicture> pictures) {
  std::map<std::string, int> seen;
  for (const auto& picture : pictures) seen.emplace(picture.label, 0);
  std::vector<std::string> names;
  bool numeric = true;
  for (const auto& [label, unused] : seen) {
    names.push_back(label);
    numeric = numeric && to_number(label).has_value();
  }
  if (numeric) {
    std::sort(names.begin(), names.end(),
              [](const auto& a, const auto& b) { return *to_number(a) < *to_number(b); });
  }
  return names;
}

Dataset read_listed(std::span<const ListedPicture> pictures, const fs::path& folder, const fs::path& list,
                    const ReadOptions& options) {
  Dataset dataset;
  dataset.class_names = sorted_labels(pictures);
  std::map<std::string, int> index;
  for (std::size_t i = 0; i < dataset.class_names.size(); ++i)
    index[dataset.class_names[i]] = static_cast<int>(i);
  for (const Split split : kSplits) {
    std::vector<LabelledFile> files;
    for (const auto& picture : pictures) {
      if (picture.split != split) continue;
      files.push_back({folder / picture.path, index.at(picture.label),
                       fs::path(picture.path).lexically_normal().generic_string()});
    }
    dataset[split] = read_picture_files(files, options, dataset.skipped);
  }
  if (dataset[Split::train].size() + dataset[Split::test].size() == 0)
    std::swap(dataset[Split::train], dataset[Split::val]);  // all there is to train on
  if (dataset[Split::train].size() + dataset[Split::test].size() == 0) {
    throw Error(
        ErrorCode::data_loss,
        fmt::format("{} names no readable picture; {} were skipped", list.string(), dataset.skipped.count()),
        dataset.skipped.files.empty() ? "" : dataset.skipped.files.front().line())
        .at(list.string());
  }
  return dataset;
}

std::vector<ListedPicture> read_csv_file(const fs::path& path) {
  return parse_csv_list(read_text_file(path, kMaxListBytes), path.string(), path.parent_path());
}

}  // namespace

std::vector<ListedPicture> parse_csv_list(std::string_view text, const std::string& place,
                                          const fs::path& folder) {
  std::vector<ListedPicture> pictures;
  CsvReader reader(text, place, kCsvHint);
  std::vector<std::string> fields;
  for (bool first = true; reader.next(fields); first = false) {
    if (first && is_header(fields[0], folder)) continue;
    if (fields.size() < 2 || fields.size() > 3) {
      throw reader.error(fmt::format("has {} fields, not path,label", fields.size()));
    }
    if (fields[0].empty() || fields[1].empty()) throw reader.error("has an empty path or label");
    ListedPicture picture{std::move(fields[0]), std::move(fields[1]), Split::train, reader.position().line};
    if (fields.size() == 3) {
      const auto split = split_of_folder_name(fields[2]);
      if (!split) throw reader.error(fmt::format("{} is not train, val or test", quote_name(fields[2])));
      picture.split = *split;
    }
    pictures.push_back(std::move(picture));
  }
  return pictures;
}

std::vector<ListedPicture> parse_space_list(std::string_view text, const std::string& place, Split split) {
  std::vector<ListedPicture> pictures;
  std::size_t line_number = 0;
  for (std::size_t at = 0; at < text.size();) {
    ++line_number;
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    const std::size_t space = line.rfind(' ');
    if (!line.empty() && (space == std::string_view::npos || space == 0)) {
      throw Error(ErrorCode::data_loss,
                  fmt::format("{}, line {}: is not 'picture label'", place, line_number))
          .at(fmt::format("{}, byte {}", place, at));
    }
    if (!line.empty()) {
      pictures.push_back(
          {std::string(line.substr(0, space)), std::string(line.substr(space + 1)), split, line_number});
    }
    at = end + 1;
  }
  return pictures;
}

bool is_csv_set(const fs::path& path) {
  if (fs::is_directory(path)) {
    return fs::is_regular_file(path / "train.csv") ||
           (fs::is_regular_file(path / "test.csv") && !is_image_folder(path));
  }
  return path.extension() == ".csv" && fs::is_regular_file(path);
}

namespace {

std::vector<ListedPicture> list_csv(const fs::path& path) {
  if (!fs::is_directory(path)) return read_csv_file(path);
  std::vector<ListedPicture> pictures;
  for (const Split split : kSplits) {
    const fs::path file = path / fmt::format("{}.csv", to_string(split));
    if (!fs::exists(file)) continue;
    for (auto& picture : read_csv_file(file)) {
      picture.split = split;
      pictures.push_back(std::move(picture));
    }
  }
  return pictures;
}

fs::path folder_of_list(const fs::path& path) { return fs::is_directory(path) ? path : path.parent_path(); }

// Of the files that are there.
SplitCounts count_listed(std::span<const ListedPicture> pictures, const fs::path& folder) {
  SplitCounts counts{};
  std::error_code unreadable;
  for (const auto& picture : pictures) {
    if (fs::is_regular_file(folder / picture.path, unreadable))
      ++counts[static_cast<std::size_t>(picture.split)];
  }
  return counts;
}

}  // namespace

Dataset read_csv(const fs::path& path, const ReadOptions& options) {
  return read_listed(list_csv(path), folder_of_list(path), path, options);
}

SplitCounts count_csv(const fs::path& path) { return count_listed(list_csv(path), folder_of_list(path)); }

bool is_mnist_m(const fs::path& folder) { return fs::is_regular_file(folder / "mnist_m_train_labels.txt"); }

namespace {

std::vector<ListedPicture> list_mnist_m(const fs::path& folder) {
  std::vector<ListedPicture> pictures;
  for (const Split split : {Split::train, Split::test}) {
    const std::string pictures_folder = fmt::format("mnist_m_{}", to_string(split));
    const fs::path list = folder / (pictures_folder + "_labels.txt");
    for (auto& picture : parse_space_list(read_text_file(list, kMaxListBytes), list.string(), split)) {
      const auto digit = to_number(picture.label);
      if (!digit || *digit < 0 || *digit > 9) {
        throw Error(ErrorCode::data_loss, fmt::format("{}: {} has label {}, not a digit", list.string(),
                                                      quote_name(picture.path), quote_name(picture.label)))
            .at(fmt::format("{}, line {}", list.string(), picture.line));
      }
      picture.path = pictures_folder + "/" + picture.path;
      pictures.push_back(std::move(picture));
    }
  }
  return pictures;
}

}  // namespace

Dataset read_mnist_m(const fs::path& folder, const ReadOptions& options) {
  return read_listed(list_mnist_m(folder), folder, folder / "mnist_m_train_labels.txt", options);
}

SplitCounts count_mnist_m(const fs::path& folder) { return count_listed(list_mnist_m(folder), folder); }

}  // namespace dfrost
