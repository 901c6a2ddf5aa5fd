#include "draw/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "draw/canvas.h"
#include "draw/sheet_style.h"

namespace dfrost {
namespace {

constexpr std::size_t kCellWidth = 22;
constexpr std::size_t kCellHeight = 14;
constexpr std::size_t kDomainGap = 8;
constexpr std::size_t kClientColumn = 84;  // client number and its total
constexpr std::size_t kSideColumn = 130;   // the bar of totals
constexpr std::size_t kLegendWidth = 240;

constexpr Color kNothing = {240, 240, 236};
constexpr Color kBar = {148, 163, 184};

// From pale sand over teal to night blue, equally spaced.
constexpr std::array<Color, 5> kScale = {Color{236, 231, 205}, Color{161, 205, 177}, Color{72, 158, 162},
                                         Color{34, 95, 134}, Color{20, 38, 88}};

Color mix(Color a, Color b, double t) {
  const auto channel = [t](std::uint8_t x, std::uint8_t y) {
    return static_cast<std::uint8_t>(std::lround((1 - t) * x + t * y));
  };
  return {channel(a.red, b.red), channel(a.green, b.green), channel(a.blue, b.blue)};
}

// By the square root, so that a client's few pictures of a class still show beside another's thousands.
Color shade(std::size_t count, std::size_t most) {
  if (count == 0 || most == 0) return kNothing;
  const double t = std::sqrt(static_cast<double>(count) / static_cast<double>(most)) * (kScale.size() - 1);
  const auto i = std::min(static_cast<std::size_t>(t), kScale.size() - 2);
  return mix(kScale[i], kScale[i + 1], t - static_cast<double>(i));
}

struct MapLayout {
  std::vector<std::size_t> column_x;  // of each class
  std::vector<std::size_t> row_y;     // of each client
  std::size_t top = 0;
  std::size_t right = 0;
  std::size_t bottom = 0;
};

MapLayout lay_out(const Partition& partition, const Corpus& corpus) {
  MapLayout layout;
  layout.top = kMargin + kTitleScale * kTextHeight + 76;
  std::size_t x = kMargin + kClientColumn;
  for (const Domain& domain : corpus.domains) {
    for (std::size_t c = 0; c < domain.class_names.size(); ++c, x += kCellWidth) layout.column_x.push_back(x);
    x += kDomainGap;
  }
  layout.right = x - kDomainGap;
  // Clients come in equal groups per domain, unless a file says otherwise.
  const std::size_t group = partition.clients.size() % corpus.domains.size() == 0
                                ? partition.clients.size() / corpus.domains.size()
                                : partition.clients.size();
  std::size_t y = layout.top;
  for (std::size_t u = 0; u < partition.clients.size(); ++u, y += kCellHeight) {
    if (u > 0 && u % group == 0) y += kDomainGap;
    layout.row_y.push_back(y);
  }
  layout.bottom = y;
  return layout;
}

void draw_domain_names(Image& page, const Corpus& corpus, const MapLayout& layout) {
  for (const Domain& domain : corpus.domains) {
    const auto first = static_cast<std::size_t>(domain.first_class);
    const std::size_t x = layout.column_x[first];
    const std::size_t width = domain.class_names.size() * kCellWidth;
    const std::size_t scale = text_width(domain.name, 2) <= width ? 2 : 1;
    draw_text(page, x, layout.top - 40, domain.name, scale, kInk);
    fill(page, {x, layout.top - 20, width - 1, 1}, kFaint);
    for (std::size_t c = 0; c < domain.class_names.size(); ++c) {
      const std::string number = std::to_string(first + c);
      draw_text(page, x + c * kCellWidth + (kCellWidth - text_width(number, 1)) / 2, layout.top - 13, number,
                1, kFaint);
    }
  }
}

void draw_client(Image& page, std::size_t client, const std::vector<std::size_t>& counts,
                 std::size_t most_in_cell, std::size_t most_in_all, const MapLayout& layout) {
  const std::size_t y = layout.row_y[client];
  const std::size_t text_y = y + (kCellHeight - kTextHeight) / 2;
  std::size_t total = 0;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    total += counts[c];
    fill(page, {layout.column_x[c], y, kCellWidth - 1, kCellHeight - 1}, shade(counts[c], most_in_cell));
  }
  draw_text(page, kMargin, text_y, fmt::format("client {}", client), 1, kInk);
  const std::size_t bar =
      std::max<std::size_t>(1, total * (kSideColumn - 60) / std::max<std::size_t>(1, most_in_all));
  fill(page, {layout.right + 12, y + 3, bar, kCellHeight - 7}, kBar);
  draw_text(page, layout.right + 12 + bar + 6, text_y, std::to_string(total), 1, kFaint);
}

void draw_legend(Image& page, std::size_t most, const MapLayout& layout) {
  const std::size_t x = kMargin + kClientColumn;
  const std::size_t y = layout.bottom + 20;
  for (std::size_t i = 0; i < kLegendWidth; ++i) {
    // The legend runs evenly in colour: its counts are therefore those of the square root's inverse.
    const double t = static_cast<double>(i + 1) / kLegendWidth;
    const auto count = static_cast<std::size_t>(std::ceil(t * t * static_cast<double>(most)));
    fill(page, {x + i, y, 1, 10}, shade(count, most));
  }
  draw_text(page, x - 10, y + 1, "0", 1, kFaint);
  draw_text(page, x + kLegendWidth + 6, y + 1, fmt::format("{} pictures of a class at one client", most), 1,
            kFaint);
}

}  // namespace

Image partition_heat_map(const Partition& partition, const Corpus& corpus, const std::string& title) {
  const auto table = count_table(partition, corpus.train.labels, corpus.classes());
  const MapLayout layout = lay_out(partition, corpus);
  std::size_t most_in_cell = 0;
  std::size_t most_in_all = 0;
  for (std::size_t u = 0; u < table.size(); ++u) {
    most_in_cell = std::max(most_in_cell, *std::max_element(table[u].begin(), table[u].end()));
    most_in_all = std::max(most_in_all, partition.clients[u].size());
  }
  Image page =
      make_canvas(std::max(layout.right + kSideColumn, kMargin + text_width(title, kTitleScale)) + kMargin,
                  layout.bottom + 20 + 10 + kMargin, kPaper);
  draw_text(page, kMargin, kMargin, title, kTitleScale, kInk);
  draw_domain_names(page, corpus, layout);
  draw_text(page, layout.right + 12, layout.top - 13, "pictures", 1, kFaint);
  for (std::size_t u = 0; u < table.size(); ++u)
    draw_client(page, u, table[u], most_in_cell, most_in_all, layout);
  draw_legend(page, most_in_cell, layout);
  return page;
}

}  // namespace dfrost
