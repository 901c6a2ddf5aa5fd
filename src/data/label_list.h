// Text files that say which picture is what:
// MNIST-M's lists ("00000012.png 7" a line) and CSV files of path,label[,split] (RFC 4180: quotes, commas and
// line breaks inside quotes). Errors name the file, the line and the byte.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset.h"
#include "data/read_options.h"

namespace dfrost {

struct ListedPicture {
  std::string path;   // as written
  std::string label;  // as written
  Split split = Split::train;
  std::size_t line = 0;  // of the list, from 1
};

// The first line is a header if its first field is the name of such a column ("path", "Image_Path" …), or
// neither ends as pictures do nor is a file in `folder`. `place` names the text in errors.
std::vector<ListedPicture> parse_csv_list(std::string_view text, const std::string& place,
                                          const std::filesystem::path& folder);
std::vector<ListedPicture> parse_space_list(std::string_view text, const std::string& place, Split split);

// A CSV file, or a folder with train.csv and test.csv, or one of them (and val.csv). Paths are relative to
// the CSV file.
Dataset read_csv(const std::filesystem::path& path, const ReadOptions& options);
bool is_csv_set(const std::filesystem::path& path);
// Of the files named that are there.
SplitCounts count_csv(const std::filesystem::path& path);

// The folder with mnist_m_train/, mnist_m_train_labels.txt, mnist_m_test/, mnist_m_test_labels.txt.
Dataset read_mnist_m(const std::filesystem::path& folder, const ReadOptions& options);
bool is_mnist_m(const std::filesystem::path& folder);
SplitCounts count_mnist_m(const std::filesystem::path& folder);

}  // namespace dfrost
