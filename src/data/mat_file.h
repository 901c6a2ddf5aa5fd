// Just enough of MATLAB's level 5 MAT-file to read SVHN: named arrays of uint8 or double, stored plain or as
// one zlib stream each, little-endian ("MAT-File Format", MathWorks, chapter 1). Sizes in headers are checked
// against the bytes that are there before anything is allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace dfrost {

struct MatArray {
  std::vector<std::size_t> dimensions;  // first varies fastest (column-major)
  std::vector<std::uint8_t> values;     // every number, as a byte
};

// The arrays of the given names, whose every value is a whole number from 0 to 255; other variables are
// passed over without being inflated, so that a file of many costs no more than what is wanted of it.
std::map<std::string, MatArray> parse_mat(std::span<const std::byte> bytes, const std::string& place,
                                          const std::set<std::string>& wanted);

// The dimensions of an array, without reading its numbers; empty where there is none of that name.
std::vector<std::size_t> mat_dimensions(std::span<const std::byte> bytes, const std::string& place,
                                        const std::string& name);

}  // namespace dfrost
