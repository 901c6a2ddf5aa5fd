// Labelled pictures in memory, as bytes: grey pictures keep one channel, large photographs stay encoded, and
// nothing is ever expanded to a model's input size here. 110,000 pictures of 32×32 take about 200 MB.
// A PictureSet is read by many threads at once; each brings its own scratch Image.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/image.h"

namespace dfrost {

enum class PictureKind : std::uint8_t {
  grey,     // one byte a pixel; becomes RGB by repetition
  rgb,      // three bytes a pixel, interleaved
  encoded,  // a PNG or JPEG file as it was found
};

struct PictureRecord {
  std::uint64_t offset = 0;  // into PictureSet::bytes
  std::uint32_t size = 0;    // bytes
  std::uint32_t width = 0;   // pixels
  std::uint32_t height = 0;
  PictureKind kind = PictureKind::rgb;
};

struct PictureSet {
  std::vector<std::uint8_t> bytes;
  std::vector<PictureRecord> records;
  std::vector<int> labels;  // one per record, an index into the class names

  std::size_t size() const { return records.size(); }
};

// The pixels of one picture as RGB. Points into the set where that is how they are kept, else into `scratch`.
ImageView view_picture(const PictureSet& set, std::size_t index, Image& scratch);

// Copies one picture with a label of its own to the end of `to`.
void append_picture(PictureSet& to, const PictureSet& from, std::size_t index, int label);

// Moves all of `from` to the end of `to`.
void append_set(PictureSet& to, PictureSet from);

// The records of `count` pictures of one shape that lie one after the other in `bytes`.
std::vector<PictureRecord> uniform_records(std::size_t count, std::size_t width, std::size_t height,
                                           PictureKind kind);

enum class Split : std::uint8_t { train, val, test };
inline constexpr std::array<Split, 3> kSplits = {Split::train, Split::val, Split::test};
std::string_view to_string(Split split);

// What a reader left out, and why.
struct SkippedFiles {
  std::map<std::string, std::size_t> reasons;  // reason -> files
  std::vector<std::string> examples;           // the first few, in full

  void add(const std::filesystem::path& file, const std::string& reason, const std::string& detail = {});
  std::size_t count() const;
};

struct Dataset {
  std::string name;
  std::string format;              // the layout it was found in: "idx", "cifar", "folder" …
  std::filesystem::path location;  // where it was found
  std::vector<std::string> class_names;
  std::array<PictureSet, 3> splits;  // indexed by Split; a split that is not there is empty
  SkippedFiles skipped;
  std::vector<std::string> notes;  // what the reader decided on its own, for people

  PictureSet& operator[](Split split) { return splits[static_cast<std::size_t>(split)]; }
  const PictureSet& operator[](Split split) const { return splits[static_cast<std::size_t>(split)]; }
};

// Pictures per class.
std::vector<std::size_t> count_classes(std::span<const int> labels, std::size_t classes);

// Where a data set has no test pictures, a fifth of every class becomes its test set. The choice depends on
// the data set's name alone, so that no run ever trains on what another run tests with.
void hold_out_test_split(Dataset& dataset);

}  // namespace dfrost
