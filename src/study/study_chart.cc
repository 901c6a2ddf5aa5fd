#include "study/study_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace dfrost {
namespace {

constexpr double kWidth = 640, kHeight = 320;
constexpr double kLeft = 64, kRight = 16, kTop = 12, kBottom = 48;
constexpr std::array kDashes = {"", "6 3", "2 3", "8 3 2 3", "10 4", "4 2", "1 2", "12 3 3 3"};

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

// Steps of 1, 2 or 5 that make about five of them.
double step_of(const Range& range) {
  const double rough = std::max(range.high - range.low, 1e-12) / 5;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

struct Scale {
  Range range;
  double from = 0, to = 1;  // pixels
  bool log = false;         // the range is that of logarithms

  double operator()(double value) const {
    if (log) value = value > 0 ? std::max(range.low, std::log10(value)) : range.low;
    return from + (value - range.low) / (range.high - range.low) * (to - from);
  }
};

Range widened(Range range) {
  if (!(range.low <= range.high)) return {0, 1};
  const double margin =
      range.high > range.low ? 0.04 * (range.high - range.low) : std::max(1e-6, std::abs(range.high) * 0.1);
  return {range.low - margin, range.high + margin};
}

std::string tick_text(double value, double step) {
  if (std::abs(value) < step * 1e-9) value = 0;
  return fmt::format("{:.6g}", value);
}

struct Tick {
  double value;
  std::string text;
};

std::vector<Tick> y_ticks(const Scale& y) {
  std::vector<Tick> ticks;
  if (y.log) {
    for (double power = std::floor(y.range.low); power <= y.range.high; ++power) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        const double value = factor * std::pow(10, power), place = std::log10(value);
        if (place >= y.range.low && place <= y.range.high)
          ticks.push_back({value, fmt::format("{:.6g}", value)});
      }
    }
    return ticks;
  }
  const double step = step_of(y.range);
  for (double value = std::ceil(y.range.low / step) * step; value <= y.range.high; value += step)
    ticks.push_back({value, tick_text(value, step)});
  return ticks;
}

std::string y_axis(const Scale& y, const std::string& title) {
  std::string svg;
  for (const auto& [value, text] : y_ticks(y)) {
    svg += fmt::format("<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>", kLeft,
                       kWidth - kRight, y(value), y(value));
    svg += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", kLeft - 6, y(value) + 4,
                       text);
  }
  const double middle = (kTop + kHeight - kBottom) / 2;
  return svg +
         fmt::format(
             "<text x=\"14\" y=\"{0}\" text-anchor=\"middle\" transform=\"rotate(-90 14 {0})\">{1}</text>",
             middle, escape_html(title));
}

std::string x_axis(const Scale& x, const MadeChart& chart) {
  std::string svg;
  const auto tick = [&](double value, const std::string& text) {
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>", x(value),
                       kHeight - kBottom + 16, escape_html(text));
  };
  if (!chart.x_labels.empty()) {
    for (std::size_t i = 0; i < chart.x_labels.size(); ++i) tick(static_cast<double>(i), chart.x_labels[i]);
  } else {
    const double step = std::max(step_of(x.range), chart.dots ? 0.0 : 1.0);
    for (double value = std::ceil(x.range.low / step) * step; value <= x.range.high; value += step)
      tick(value, tick_text(value, step));
  }
  return svg + fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                           (kLeft + kWidth - kRight) / 2, kHeight - 8, escape_html(chart.x_title));
}

std::string band(const ChartLine& line, const Scale& x, const Scale& y, std::size_t colour) {
  std::string around;
  for (const auto& p : line.points) around += fmt::format("{:.1f},{:.1f} ", x(p.x), y(p.y + p.spread));
  for (auto p = line.points.rbegin(); p != line.points.rend(); ++p)
    around += fmt::format("{:.1f},{:.1f} ", x(p->x), y(p->y - p->spread));
  return fmt::format("<polygon class=\"band c{}\" points=\"{}\"/>", colour, around);
}

std::string line_svg(const MadeChart& chart, std::size_t index, const Scale& x, const Scale& y) {
  const auto& line = chart.lines[index];
  const std::size_t colour = index % kDashes.size();
  std::string svg;
  if (!chart.dots && line.points.size() > 1) {
    svg += band(line, x, y, colour);
    svg += fmt::format("<polyline class=\"line c{}\" stroke-dasharray=\"{}\" points=\"", colour,
                       kDashes[colour]);
    for (const auto& p : line.points) svg += fmt::format("{:.1f},{:.1f} ", x(p.x), y(p.y));
    svg += "\"/>";
  }
  for (const auto& p : line.points) {
    const auto at = chart.x_labels.empty() ? fmt::format("{:.6g}", p.x)
                                           : chart.x_labels[static_cast<std::size_t>(std::lround(p.x))];
    svg += fmt::format(
        "<circle class=\"dot c{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"><title>{}</title></circle>", colour,
        x(p.x), y(p.y), chart.dots ? 5 : 3,
        escape_html(fmt::format("{}: {:.4g} ± {:.2g} at {}", line.label, p.y, p.spread, at)));
  }
  return svg;
}

std::string legend(const MadeChart& chart) {
  std::string html = "<p class=\"legend\">";
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    const std::size_t colour = i % kDashes.size();
    html += fmt::format(
        "<span><svg width=\"30\" height=\"10\" aria-hidden=\"true\"><line class=\"line c{}\" "
        "stroke-dasharray=\"{}\" x1=\"0\" "
        "x2=\"30\" y1=\"5\" y2=\"5\"/></svg> {}</span> ",
        colour, kDashes[colour], escape_html(chart.lines[i].label));
  }
  return html + "</p>";
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '&': safe += "&amp;"; break;
      case '"': safe += "&quot;"; break;
      default: safe += c;
    }
  }
  return safe;
}

std::string chart_svg(const MadeChart& chart) {
  Range across, up;
  for (const auto& line : chart.lines) {
    for (const auto& p : line.points) {
      across.take(p.x);
      for (const double end : {p.y, p.y - p.spread, p.y + p.spread}) {
        if (!chart.log)
          up.take(end);
        else if (end > 0)
          up.take(std::log10(end));
      }
    }
  }
  for (std::size_t i = 0; i < chart.x_labels.size(); ++i) across.take(static_cast<double>(i));
  const Scale x{widened(across), kLeft, kWidth - kRight};
  const Scale y{widened(up), kHeight - kBottom, kTop, chart.log};
  std::string svg = fmt::format("<svg class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">",
                                kWidth, kHeight, escape_html(chart.title));
  svg += y_axis(y, chart.y_title) + x_axis(x, chart);
  for (std::size_t i = 0; i < chart.lines.size(); ++i) svg += line_svg(chart, i, x, y);
  return svg + "</svg>" + legend(chart);
}

}  // namespace dfrost
