#include "draw/contact_sheet.h"

#include <fmt/format.h>

#include <algorithm>

#include "draw/canvas.h"
#include "draw/sheet_style.h"

namespace dfrost {
namespace {

constexpr std::size_t kCell = 64;  // pixels of a picture
constexpr std::size_t kGap = 6;
constexpr std::size_t kNameScale = 2;
constexpr std::size_t kCountScale = 1;
constexpr std::size_t kMaxNameLetters = 24;

constexpr Color kLine = {222, 222, 218};
constexpr Color kEmptyCell = {238, 238, 234};

// Cut between characters of UTF-8, never within one.
std::string short_name(const std::string& name) {
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if ((static_cast<unsigned char>(name[i]) & 0xC0) != 0x80) starts.push_back(i);
  }
  return starts.size() <= kMaxNameLetters ? name : name.substr(0, starts[kMaxNameLetters - 2]) + "..";
}

// Up to `count` random members of each class.
std::vector<std::vector<std::size_t>> draw_samples(const PictureSet& set, std::size_t classes,
                                                   std::size_t count, Seed seed) {
  std::vector<std::vector<std::size_t>> samples(classes);
  RandomStream stream(seed, "contact sheet");
  for (const std::size_t index : stream.permutation(set.size())) {
    auto& of_class = samples[static_cast<std::size_t>(set.labels[index])];
    if (of_class.size() < count) of_class.push_back(index);
  }
  return samples;
}

void draw_row(Image& page, const PictureSet& set, const std::vector<std::size_t>& samples, std::size_t left,
              std::size_t top, std::size_t columns) {
  Image scratch;
  for (std::size_t i = 0; i < columns; ++i) {
    const Rectangle cell{left + i * (kCell + kGap), top, kCell, kCell};
    fill(page, cell, kEmptyCell);
    if (i < samples.size()) draw_picture(page, view_picture(set, samples[i], scratch), cell);
  }
}

}  // namespace

Image contact_sheet(const PictureSet& set, const std::vector<std::string>& class_names,
                    const std::string& title, const ContactSheetOptions& options) {
  const std::size_t rows = std::min(class_names.size(), options.max_rows);
  const auto counts = count_classes(set.labels, class_names.size());
  const auto samples = draw_samples(set, class_names.size(), options.columns, options.seed);

  std::size_t name_width = 0;
  for (std::size_t c = 0; c < rows; ++c) {
    name_width = std::max(name_width, text_width(short_name(class_names[c]), kNameScale));
  }
  const std::size_t pictures_left = 2 * kMargin + std::max<std::size_t>(name_width, 60);
  const std::size_t header = kMargin + kTitleScale * kTextHeight + kMargin;
  const bool more = rows < class_names.size();
  Image page = make_canvas(std::max(pictures_left + options.columns * (kCell + kGap) - kGap,
                                    kMargin + text_width(title, kTitleScale)) +
                               kMargin,
                           header + rows * (kCell + kGap) - kGap + (more ? 2 : 1) * kMargin, kPaper);

  draw_text(page, kMargin, kMargin, title, kTitleScale, kInk);
  fill(page, {kMargin, header - kMargin / 2, page.width - 2 * kMargin, 1}, kLine);
  for (std::size_t c = 0; c < rows; ++c) {
    const std::size_t top = header + c * (kCell + kGap);
    const std::size_t text_top = top + (kCell - kNameScale * kTextHeight) / 2 - 7;
    draw_text(page, kMargin, text_top, short_name(class_names[c]), kNameScale, kInk);
    draw_text(page, kMargin, text_top + kNameScale * kTextHeight + 8, fmt::format("{} pictures", counts[c]),
              kCountScale, kFaint);
    draw_row(page, set, samples[c], pictures_left, top, options.columns);
  }
  if (more) {
    draw_text(page, kMargin, page.height - kMargin - kTextHeight,
              fmt::format("and {} more classes", class_names.size() - rows), kCountScale, kFaint);
  }
  return page;
}

}  // namespace dfrost
