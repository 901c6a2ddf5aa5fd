#include "data/resize_taps.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace dfrost {
namespace {

constexpr std::int32_t kWholeWeight = std::int32_t{1} << kWeightBits;

double bilinear(double x) { return std::max(0.0, 1.0 - std::abs(x)); }

// Keys' cubic convolution with a = -0.5; the order of operations is Pillow's, since the last bit counts.
double bicubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1;
  if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * a;
  return 0.0;
}

// The filter laid over one axis.
class Kernel {
 public:
  Kernel(const AxisWindow& window, ResizeFilter filter)
      : filter_(filter == ResizeFilter::bilinear ? bilinear : bicubic),
        input_(static_cast<double>(window.input)),
        scale_(input_ / static_cast<double>(window.resized)),
        widening_(std::max(scale_, 1.0)),
        support_((filter == ResizeFilter::bilinear ? 1.0 : 2.0) * widening_) {}

  // The input pixels under the filter at output pixel `position`.
  std::size_t first(std::size_t position) const {
    return static_cast<std::size_t>(std::max(centre(position) - support_ + 0.5, 0.0));
  }
  std::size_t last(std::size_t position) const {
    return static_cast<std::size_t>(std::min(centre(position) + support_ + 0.5, input_));
  }

  // Writes the weights of input pixels [first, last), which add up to one.
  void weigh(std::size_t position, std::vector<double>& scratch, std::int32_t* weights) const {
    const std::size_t begin = first(position);
    const std::size_t count = last(position) - begin;
    const double reciprocal = 1.0 / widening_;
    scratch.resize(count);
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      scratch[i] = filter_((static_cast<double>(i + begin) - centre(position) + 0.5) * reciprocal);
      sum += scratch[i];
    }
    for (std::size_t i = 0; i < count; ++i) {
      const double weight = (sum != 0 ? scratch[i] / sum : scratch[i]) * kWholeWeight;
      weights[i] = static_cast<std::int32_t>(weight < 0 ? weight - 0.5 : weight + 0.5);
    }
  }

 private:
  double centre(std::size_t position) const { return (static_cast<double>(position) + 0.5) * scale_; }

  double (*filter_)(double);
  double input_;
  double scale_;     // input pixels per output pixel
  double widening_;  // of the filter: only when shrinking
  double support_;   // input pixels on either side of the centre
};

bool inside(const AxisWindow& window, std::ptrdiff_t position) {
  return position >= 0 && static_cast<std::size_t>(position) < window.resized;
}

AxisTaps taps_of_one_pixel(const AxisWindow& window) {
  AxisTaps axis{1, std::vector<std::uint32_t>(window.count), std::vector<std::int32_t>(window.count, 0)};
  // Pillow walks along the axis by adding the step, and the sum's rounding decides ties: so do we.
  const double step = static_cast<double>(window.input) / static_cast<double>(window.resized);
  double source = step * 0.5;
  const std::ptrdiff_t end = window.begin + static_cast<std::ptrdiff_t>(window.count);
  for (std::ptrdiff_t position = std::min<std::ptrdiff_t>(window.begin, 0); position < end; ++position) {
    const auto pixel = std::min(static_cast<std::size_t>(source), window.input - 1);
    if (position >= window.begin) {
      const auto output = static_cast<std::size_t>(position - window.begin);
      axis.first[output] = static_cast<std::uint32_t>(pixel);
      if (inside(window, position)) axis.weight[output] = kWholeWeight;
    }
    if (position >= 0) source += step;
  }
  return axis;
}

}  // namespace

AxisTaps make_axis_taps(const AxisWindow& window, ResizeFilter filter) {
  assert(window.input > 0 && window.resized > 0);
  // An axis that keeps its size is copied, as Pillow copies it; that is what nearest does there.
  if (filter == ResizeFilter::nearest || window.input == window.resized) return taps_of_one_pixel(window);

  const Kernel kernel(window, filter);
  const auto position_of = [&](std::size_t output) {
    return window.begin + static_cast<std::ptrdiff_t>(output);
  };
  AxisTaps axis;
  axis.taps = 1;
  for (std::size_t output = 0; output < window.count; ++output) {
    if (!inside(window, position_of(output))) continue;
    const auto position = static_cast<std::size_t>(position_of(output));
    axis.taps = std::max(axis.taps, kernel.last(position) - kernel.first(position));
  }
  axis.first.resize(window.count);
  axis.weight.assign(window.count * axis.taps, 0);
  std::vector<double> scratch;
  for (std::size_t output = 0; output < window.count; ++output) {
    const auto position = static_cast<std::size_t>(
        std::clamp<std::ptrdiff_t>(position_of(output), 0, static_cast<std::ptrdiff_t>(window.resized) - 1));
    // Near the end of the axis the taps start earlier, with weights of zero, so that none lies beyond it.
    const std::size_t begin = kernel.first(position);
    const std::size_t first = std::min(begin, window.input - axis.taps);
    axis.first[output] = static_cast<std::uint32_t>(first);
    if (!inside(window, position_of(output))) continue;
    kernel.weigh(position, scratch, axis.weight.data() + output * axis.taps + (begin - first));
  }
  return axis;
}

}  // namespace dfrost
