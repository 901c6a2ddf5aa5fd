// Random point sets, and plain files of doubles through which the tests and the Python oracles talk: no
// header, no shapes, both sides walk the numbers in the order that the oracle's script states.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <vector>

#include "base/random.h"
#include "dfrost/matrix_view.h"

namespace dfrost::test {

// Owns what a MatrixView<const float> looks at.
struct Points {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::vector<float> values = {};

  Points(std::size_t row_count, std::size_t col_count)
      : rows(row_count), cols(col_count), values(rows * cols) {}
  Points(std::size_t row_count, std::size_t col_count, std::vector<float> numbers)
      : rows(row_count), cols(col_count), values(std::move(numbers)) {}
  MatrixView<const float> view() const { return {values.data(), rows, cols}; }
  MatrixView<float> view() { return {values.data(), rows, cols}; }
  std::span<float> row(std::size_t r) { return {values.data() + r * cols, cols}; }
};

inline Points random_points(std::size_t rows, std::size_t cols, RandomStream& random, double scale = 1) {
  Points points(rows, cols);
  for (float& value : points.values) value = static_cast<float>(scale * random.normal());
  return points;
}

class NumberWriter {
 public:
  NumberWriter& add(double value) { return numbers_.push_back(value), *this; }
  NumberWriter& add(std::size_t value) { return add(static_cast<double>(value)); }
  template <typename T>
  NumberWriter& add_all(const T& values) {
    for (const auto value : values) add(static_cast<double>(value));
    return *this;
  }
  void save(const std::filesystem::path& path) const {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(numbers_.data()),
               static_cast<std::streamsize>(numbers_.size() * sizeof(double)));
    ASSERT_TRUE(file.good()) << path;
  }

 private:
  std::vector<double> numbers_;
};

inline std::vector<double> read_numbers(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<double> numbers(std::filesystem::file_size(path) / sizeof(double));
  file.read(reinterpret_cast<char*>(numbers.data()),
            static_cast<std::streamsize>(numbers.size() * sizeof(double)));
  return numbers;
}

}  // namespace dfrost::test
