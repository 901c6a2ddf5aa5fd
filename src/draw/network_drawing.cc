#include "draw/network_drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "dfrost/error.h"

namespace dfrost {
namespace {

constexpr std::size_t kMostLinks = 100'000;
constexpr double kFrame = 28;
constexpr double kTitleHeight = 58;
constexpr double kLegendHeight = 40;
constexpr double kNoteCharacter = 7.9;  // a generous width: nobody knows the reader's font

struct Point {
  double x = 0;
  double y = 0;
};

// Where everything goes, in pixels.
struct NetworkLayout {
  bool circle = true;
  double dot_radius = 0;
  double radius = 0;  // of the circle
  double cell = 0;    // distance of neighbours on the grid
  double width = 0;
  double height = 0;
  Point centre;
  std::vector<Point> dots;  // by client
};

double dot_radius(std::size_t clients) {
  if (clients <= 64) return 13;
  if (clients <= 160) return 9;
  return clients <= 400 ? 4.5 : 2.5;
}

NetworkLayout circle_layout(const Placement& placement, double least_width) {
  const auto clients = static_cast<double>(placement.client_at.size());
  NetworkLayout layout;
  layout.dot_radius = dot_radius(placement.client_at.size());
  layout.radius = std::max(230.0, clients * 2.7 * layout.dot_radius / (2 * std::numbers::pi));
  const double half = layout.radius + layout.dot_radius + kFrame;
  layout.width = std::max(least_width, 2 * half);
  layout.height = kTitleHeight + 2 * half + kLegendHeight;
  layout.centre = {layout.width / 2, kTitleHeight + half};
  layout.dots.resize(placement.client_at.size());
  for (std::size_t place = 0; place < placement.client_at.size(); ++place) {
    // The first at the top, then clockwise.
    const double angle = 2 * std::numbers::pi * static_cast<double>(place) / clients;
    layout.dots[placement.client_at[place]] = {layout.centre.x + layout.radius * std::sin(angle),
                                               layout.centre.y - layout.radius * std::cos(angle)};
  }
  return layout;
}

NetworkLayout grid_layout(const Placement& placement, double least_width) {
  NetworkLayout layout;
  layout.circle = false;
  layout.dot_radius = dot_radius(placement.client_at.size());
  layout.cell = 4.2 * layout.dot_radius;
  const double grid_width = layout.cell * static_cast<double>(placement.columns - 1);
  const double edge = layout.dot_radius + layout.cell / 2 + kFrame;  // joined borders bend outwards
  layout.width = std::max(least_width, grid_width + 2 * edge);
  const double grid_height = layout.cell * static_cast<double>(placement.rows - 1);
  layout.height = kTitleHeight + grid_height + 2 * edge + kLegendHeight;
  layout.dots.resize(placement.client_at.size());
  for (std::size_t place = 0; place < placement.client_at.size(); ++place) {
    const std::size_t row = place / placement.columns;
    const std::size_t column = place % placement.columns;
    layout.dots[placement.client_at[place]] = {
        (layout.width - grid_width) / 2 + layout.cell * static_cast<double>(column),
        kTitleHeight + edge + layout.cell * static_cast<double>(row)};
  }
  return layout;
}

// A link's path. On a circle it bends towards the centre, the more the longer it is, so that links that would
// cross in one spot can be told apart; on a grid it is straight, but one that joins two borders passes beside
// the cells between them.
std::string path_of(const NetworkLayout& layout, Edge link) {
  const Point a = layout.dots[link.first];
  const Point b = layout.dots[link.second];
  const Point middle{(a.x + b.x) / 2, (a.y + b.y) / 2};
  Point bend = middle;
  if (layout.circle) {
    const double pull = 0.7 * std::hypot(a.x - b.x, a.y - b.y) / (2 * layout.radius);
    bend = {middle.x + pull * (layout.centre.x - middle.x), middle.y + pull * (layout.centre.y - middle.y)};
  } else if (std::hypot(a.x - b.x, a.y - b.y) > 1.5 * layout.cell) {
    const bool level = std::abs(a.y - b.y) < 1;
    bend = {middle.x + (level ? 0 : 0.95 * layout.cell), middle.y + (level ? 0.95 * layout.cell : 0)};
  }
  return fmt::format("M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}", a.x, a.y, bend.x, bend.y, b.x, b.y);
}

// All links of one look are one element: a fraction of the size, and of the time to show it. But then
// crossings would not darken, so dense graphs keep thin lines instead.
std::string links(const NetworkLayout& layout, const std::vector<Edge>& edges, std::string_view look,
                  double width) {
  if (edges.empty()) return {};
  std::string path;
  for (const Edge& edge : edges) path += path_of(layout, edge);
  return fmt::format("<path class=\"{}\" stroke-width=\"{:.2f}\" d=\"{}\"/>\n", look, width, path);
}

double link_width(const NetworkLayout& layout, std::size_t count) {
  const double lines_per_pixel = static_cast<double>(count) / (layout.width + layout.height);
  return std::clamp(0.35 / lines_per_pixel, 0.25, 1.6);
}

std::string dots(const NetworkLayout& layout, const RoundNetwork& network) {
  const bool labels = layout.dot_radius >= 9;
  std::string text;
  for (ClientId client = 0; client < layout.dots.size(); ++client) {
    const Point at = layout.dots[client];
    const bool active = network.active[client];
    const auto degree = network.graph.degree(client);
    text += fmt::format(
        "<g class=\"{}\"><title>client {}: {}</title><circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"/>",
        active ? "client" : "absent", client,
        active ? fmt::format("{} neighbour{}", degree, degree == 1 ? "" : "s") : "absent", at.x, at.y,
        layout.dot_radius);
    if (labels) {
      text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:.1f}\">{}</text>", at.x,
                          at.y + 0.34 * layout.dot_radius, 0.92 * layout.dot_radius, client);
    }
    text += "</g>\n";
  }
  return text;
}

struct LegendItem {
  std::string picture;
  std::string words;
  double width() const { return 58 + kNoteCharacter * static_cast<double>(words.size()); }
};

std::vector<LegendItem> legend_items(const RoundNetwork& network) {
  const auto line = [](std::string_view look) {
    return fmt::format("<path class=\"{}\" stroke-width=\"1.6\" d=\"M0 0H26\"/>", look);
  };
  std::vector<LegendItem> items = {{line("link"), "link"}};
  if (!network.failed.empty()) items.push_back({line("failed"), "failed link"});
  if (!network.unused.empty()) items.push_back({line("unused"), "link of an absent client"});
  if (network.absent_clients() > 0) {
    items.push_back({R"(<g class="absent"><circle cx="13" cy="0" r="7"/></g>)", "absent client"});
  }
  return items;
}

std::string legend(const std::vector<LegendItem>& items, double y) {
  std::string text;
  double x = kFrame;
  for (const auto& item : items) {
    text += fmt::format(
        "<g transform=\"translate({:.0f} {:.0f})\">{}<text class=\"note\" x=\"34\" y=\"4.5\">{}</text></g>\n",
        x, y, item.picture, item.words);
    x += item.width();
  }
  return text;
}

double width_for(const DrawingText& text, const std::vector<LegendItem>& items) {
  double legend_width = 0;
  for (const auto& item : items) legend_width += item.width();
  return 2 * kFrame + std::max(legend_width, kNoteCharacter * static_cast<double>(text.subtitle.size()));
}

std::string escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

constexpr std::string_view kStyle = R"(<style>
.page { fill: #ffffff }
.title { fill: #1b2733; font-size: 18px; font-weight: 600 }
.note { fill: #5a6775; font-size: 13px }
path { fill: none; stroke-linecap: round }
.link { stroke: #4f86b8; stroke-opacity: 0.75 }
.failed { stroke: #d1495b; stroke-dasharray: 5 5 }
.unused { stroke: #c3cbd3; stroke-dasharray: 1 5 }
.client circle { fill: #17496f; stroke: #ffffff; stroke-width: 1.5 }
.client text { fill: #ffffff; text-anchor: middle; font-weight: 600 }
.absent circle { fill: #ffffff; stroke: #98a4b0; stroke-width: 1.5; stroke-dasharray: 3 2 }
.absent text { fill: #6b7885; text-anchor: middle }
@media (prefers-color-scheme: dark) {
  .page { fill: #12171d }
  .title { fill: #e8edf2 }
  .note { fill: #a3afbb }
  .link { stroke: #6fa8dc; stroke-opacity: 0.7 }
  .failed { stroke: #ff7a85 }
  .unused { stroke: #46525e }
  .client circle { fill: #a9d1f5; stroke: #12171d }
  .client text { fill: #0d2438 }
  .absent circle { fill: #12171d; stroke: #75828f }
  .absent text { fill: #93a0ad }
}
</style>
)";

}  // namespace

std::string draw_svg(const RoundNetwork& network, const Placement& placement, const DrawingText& text) {
  if (network.planned_links() > kMostLinks) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a picture of {} links would show nothing", network.planned_links()),
                fmt::format("draw a network of at most {} links", kMostLinks));
  }
  const auto items = legend_items(network);
  const double least_width = width_for(text, items);
  const NetworkLayout layout =
      placement.rows > 1 ? grid_layout(placement, least_width) : circle_layout(placement, least_width);
  const double width = link_width(layout, network.planned_links());
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\""
      " font-family=\"system-ui, 'DejaVu Sans', sans-serif\" "
      "role=\"img\">\n<title>{2}</title>\n<desc>{3}</desc>\n",
      layout.width, layout.height, escape(text.title), escape(text.subtitle));
  svg += kStyle;
  svg += "<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n";
  svg += fmt::format(
      "<text class=\"title\" x=\"{0}\" y=\"32\">{1}</text>\n<text class=\"note\" x=\"{0}\" "
      "y=\"53\">{2}</text>\n",
      kFrame, escape(text.title), escape(text.subtitle));
  svg += links(layout, network.unused, "unused", width);
  svg += links(layout, network.graph.edges(), "link", width);
  svg += links(layout, network.failed, "failed", width);
  svg += dots(layout, network);
  svg += legend(items, layout.height - kLegendHeight / 2);
  return svg + "</svg>\n";
}

}  // namespace dfrost
