#include "data/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>

#include "base/random.h"
#include "data/image_file.h"

namespace dfrost {
namespace {

constexpr std::size_t kSkippedExamples = 10;
constexpr std::size_t kHeldOutOneIn = 5;

}  // namespace

ImageView view_picture(const PictureSet& set, std::size_t index, Image& scratch) {
  const PictureRecord& record = set.records[index];
  const std::uint8_t* from = set.bytes.data() + record.offset;
  switch (record.kind) {
    case PictureKind::rgb: return {from, record.width, record.height};
    case PictureKind::encoded:
      scratch = decode_image(std::as_bytes(std::span(from, record.size)), fmt::format("picture {}", index));
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
}

void append_set(PictureSet& to, PictureSet from) {
  if (to.records.empty()) {
    to = std::move(from);
    return;
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

void SkippedFiles::add(const std::filesystem::path& file, const std::string& reason,
                       const std::string& detail) {
  ++reasons[reason];
  if (examples.size() >= kSkippedExamples) return;
  examples.push_back(detail.empty() ? fmt::format("{}: {}", file.string(), reason) : detail);
}

std::size_t SkippedFiles::count() const {
  return std::accumulate(reasons.begin(), reasons.end(), std::size_t{0},
                         [](std::size_t sum, const auto& reason) { return sum + reason.second; });
}

std::vector<std::size_t> count_classes(std::span<const int> labels, std::size_t classes) {
  std::vector<std::size_t> counts(classes);
  for (const int label : labels) ++counts.at(static_cast<std::size_t>(label));
  return counts;
}

void hold_out_test_split(Dataset& dataset) {
  PictureSet& train = dataset[Split::train];
  if (dataset[Split::test].size() != 0 || train.size() == 0) return;
  RandomStream stream(0, "held-out test split of " + dataset.name);
  auto quota = count_classes(train.labels, dataset.class_names.size());
  for (auto& count : quota) count /= kHeldOutOneIn;
  std::vector<bool> held_out(train.size());
  for (const std::size_t index : stream.permutation(train.size())) {
    auto& left = quota[static_cast<std::size_t>(train.labels[index])];
    if (left == 0) continue;
    --left;
    held_out[index] = true;
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
