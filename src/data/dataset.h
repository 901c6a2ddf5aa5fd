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

#include "dfrost/image.h"

namespace dfrost {

enum class PictureKind : std::uint8_t {
  grey,     // one byte a pixel; becomes RGB by repetition
  rgb,      // three bytes a pixel, interleaved
  encoded,  // a picture file as it was found
};

struct PictureRecord {
  std::uint64_t offset = 0;  // into PictureSet::bytes
  std::uint32_t size = 0;    // bytes
  std::uint32_t width = 0;   // pixels
  std::uint32_t height = 0;
  PictureKind kind = PictureKind::rgb;
  ExifOrientation exif = ExifOrientation::apply;  // encoded: how it is decoded
};

struct PictureSet {
  std::vector<std::uint8_t> bytes;
  std::vector<PictureRecord> records;
  std::vector<int> labels;  // one per record, an index into the class names
  // What the files are called in their folder or list ("bee/one.jpg"), where pictures come as files. Ends
  // with the last picture that has a name.
  std::vector<std::string> names;

  std::size_t size() const { return records.size(); }
  std::string_view name(std::size_t index) const {
    return index < names.size() ? names[index] : std::string_view();
  }
  void name_last(std::string_view name);  // empty: it has none
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

struct SkippedFile {
  std::string path;
  std::string reason;  // the same words for all of a kind
  std::string detail;  // of this one, where there is more to say
  // For people: which and why.
  std::string line() const;
};

// What a reader left out, and why.
struct SkippedFiles {
  std::map<std::string, std::size_t> reasons;  // reason -> files
  std::vector<SkippedFile> files;              // all, in the order of reading

  void add(const std::filesystem::path& file, const std::string& reason, const std::string& detail = {});
  std::size_t count() const { return files.size(); }
  // The first few, in full.
  std::vector<std::string> examples() const;
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

// Pictures in each split, indexed by Split.
using SplitCounts = std::array<std::size_t, kSplits.size()>;

// Pictures per class.
std::vector<std::size_t> count_classes(std::span<const int> labels, std::size_t classes);

// Drops the classes that have no picture in any split, and notes their names.
void leave_out_empty_classes(Dataset& dataset);

// Notes the classes that are scored, or set aside for validation, though no picture of them can be trained
// on.
void note_untrained_classes(Dataset& dataset);

// Where a data set has no test pictures, a fifth of every class becomes its test set, and one of a class of
// three or four: those whose names (or, without names, places) hash lowest. It does not depend on what the
// set is called or what else is in it, so that one picture more or less moves at most one other of its class.
void hold_out_test_split(Dataset& dataset);

}  // namespace dfrost
