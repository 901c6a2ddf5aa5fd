#include "data/dataset.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

#include "base/random.h"
#include "data/image_file.h"

namespace dfrost {
namespace {

constexpr std::size_t kSkippedExamples = 10;
constexpr std::size_t kHeldOutOneIn = 5;
constexpr std::size_t kLeastToHoldOutOf = 3;
constexpr std::string_view kHoldOut = "held-out test picture";

// A random number of the picture's own.
std::uint64_t hold_out_rank(const PictureSet& set, std::size_t index) {
  const auto name = set.name(index);
  if (name.empty()) return RandomStream(0, kHoldOut, index).next();
  return RandomStream(0, fmt::format("{} {}", kHoldOut, name)).next();
}

// Of a class of so many pictures. A class of two keeps both: one alone trains no better than it tests.
std::size_t held_out_of(std::size_t pictures) {
  if (pictures < kLeastToHoldOutOf) return 0;
  return std::max<std::size_t>(1, pictures / kHeldOutOneIn);
}

}  // namespace

void PictureSet::name_last(std::string_view name) {
  if (name.empty()) return;
  names.resize(records.size());
  names.back() = name;
}

ImageView view_picture(const PictureSet& set, std::size_t index, Image& scratch) {
  const PictureRecord& record = set.records[index];
  const std::uint8_t* from = set.bytes.data() + record.offset;
  switch (record.kind) {
    case PictureKind::rgb: return {from, record.width, record.height};
    case PictureKind::encoded:
      scratch = {};  // what was there goes before the next comes: two large pictures at once are one too many
      scratch = decode_image(std::as_bytes(std::span(from, record.size)), fmt::format("picture {}", index),
                             record.exif);
      return scratch.view();
    case PictureKind::grey: break;
  }
  scratch.width = record.width;
  scratch.height = record.height;
  scratch.rgb.resize(3 * std::size_t{record.size});
  std::uint8_t* to = scratch.rgb.data();
  for (std::size_t i = 0; i < record.size; ++i, to += 3) to[0] = to[1] = to[2] = from[i];
  return scratch.view();
}

void append_picture(PictureSet& to, const PictureSet& from, std::size_t index, int label) {
  PictureRecord record = from.records[index];
  const auto* first = from.bytes.data() + record.offset;
  record.offset = to.bytes.size();
  to.bytes.insert(to.bytes.end(), first, first + record.size);
  to.records.push_back(record);
  to.labels.push_back(label);
  to.name_last(from.name(index));
}

void append_set(PictureSet& to, PictureSet from) {
  if (to.records.empty()) {
    to = std::move(from);
    return;
  }
  if (!from.names.empty()) {
    to.names.resize(to.size());
    std::move(from.names.begin(), from.names.end(), std::back_inserter(to.names));
  }
  const std::uint64_t shift = to.bytes.size();
  to.bytes.insert(to.bytes.end(), from.bytes.begin(), from.bytes.end());
  for (PictureRecord record : from.records) {
    record.offset += shift;
    to.records.push_back(record);
  }
  to.labels.insert(to.labels.end(), from.labels.begin(), from.labels.end());
}

std::vector<PictureRecord> uniform_records(std::size_t count, std::size_t width, std::size_t height,
                                           PictureKind kind) {
  assert(kind != PictureKind::encoded);
  const std::size_t size = width * height * (kind == PictureKind::rgb ? 3 : 1);
  std::vector<PictureRecord> records(count);
  for (std::size_t i = 0; i < count; ++i) {
    records[i] = {i * size, static_cast<std::uint32_t>(size), static_cast<std::uint32_t>(width),
                  static_cast<std::uint32_t>(height), kind};
  }
  return records;
}

std::string_view to_string(Split split) {
  switch (split) {
    case Split::train: return "train";
    case Split::val: return "val";
    case Split::test: return "test";
  }
  return "unknown";
}

std::string SkippedFile::line() const {
  return detail.empty() ? fmt::format("{}: {}", path, reason) : detail;
}

void SkippedFiles::add(const std::filesystem::path& file, const std::string& reason,
                       const std::string& detail) {
  ++reasons[reason];
  files.push_back({file.string(), reason, detail});
}

std::vector<std::string> SkippedFiles::examples() const {
  std::vector<std::string> lines;
  for (const auto& file : std::span(files).first(std::min(files.size(), kSkippedExamples)))
    lines.push_back(file.line());
  return lines;
}

std::vector<std::size_t> count_classes(std::span<const int> labels, std::size_t classes) {
  std::vector<std::size_t> counts(classes);
  for (const int label : labels) ++counts.at(static_cast<std::size_t>(label));
  return counts;
}

void leave_out_empty_classes(Dataset& dataset) {
  std::vector<std::size_t> pictures(dataset.class_names.size());
  for (const PictureSet& set : dataset.splits) {
    for (const int label : set.labels) ++pictures.at(static_cast<std::size_t>(label));
  }
  std::vector<std::string> kept, empty;
  std::vector<int> new_label(pictures.size());
  for (std::size_t c = 0; c < pictures.size(); ++c) {
    new_label[c] = static_cast<int>(kept.size());
    (pictures[c] > 0 ? kept : empty).push_back(std::move(dataset.class_names[c]));
  }
  dataset.class_names = std::move(kept);
  if (empty.empty()) return;
  for (PictureSet& set : dataset.splits) {
    for (int& label : set.labels) label = new_label[static_cast<std::size_t>(label)];
  }
  dataset.notes.push_back(fmt::format("left out: {}, which {} no pictures", fmt::join(empty, ", "),
                                      empty.size() == 1 ? "holds" : "hold"));
}

void note_untrained_classes(Dataset& dataset) {
  const std::size_t classes = dataset.class_names.size();
  const auto trained = count_classes(dataset[Split::train].labels, classes);
  if (dataset[Split::train].size() == 0) return;  // then it is there to be scored, all of it
  for (const Split split : {Split::test, Split::val}) {
    const auto pictures = count_classes(dataset[split].labels, classes);
    std::vector<std::string> names;
    for (std::size_t c = 0; c < classes; ++c) {
      if (trained[c] == 0 && pictures[c] > 0) names.push_back(dataset.class_names[c]);
    }
    if (names.empty()) continue;
    dataset.notes.push_back(fmt::format("only {} pictures of {}: nobody can learn {}", to_string(split),
                                        fmt::join(names, ", "), names.size() == 1 ? "it" : "them"));
  }
}

void hold_out_test_split(Dataset& dataset) {
  PictureSet& train = dataset[Split::train];
  if (dataset[Split::test].size() != 0 || train.size() == 0) return;
  std::vector<std::vector<std::pair<std::uint64_t, std::size_t>>> ranked(dataset.class_names.size());
  for (std::size_t i = 0; i < train.size(); ++i) {
    ranked[static_cast<std::size_t>(train.labels[i])].emplace_back(hold_out_rank(train, i), i);
  }
  std::vector<bool> held_out(train.size());
  for (auto& pictures : ranked) {
    std::sort(pictures.begin(), pictures.end());
    pictures.resize(held_out_of(pictures.size()));
    for (const auto& [rank, index] : pictures) held_out[index] = true;
  }
  PictureSet kept;
  for (std::size_t i = 0; i < train.size(); ++i) {
    append_picture(held_out[i] ? dataset[Split::test] : kept, train, i, train.labels[i]);
  }
  train = std::move(kept);
  dataset.notes.push_back(fmt::format("no test pictures found: held out {} of {}, a fifth of every class",
                                      dataset[Split::test].size(),
                                      train.size() + dataset[Split::test].size()));
}

}  // namespace dfrost
