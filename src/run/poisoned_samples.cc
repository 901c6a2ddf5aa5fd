#include "run/poisoned_samples.h"

#include <algorithm>

namespace dfrost {
namespace {

// Black and white as preprocessing leaves them, about.
constexpr float kLevel = 2;
// Squares of the mark, along its side.
constexpr std::size_t kSquares = 4;

// A picture that is the mark all over: its last patch, with that patch's position, is what marks others.
std::vector<float> embedded_mark(const Backbone& backbone) {
  const Geometry& g = backbone.geometry();
  const std::size_t side = g.patch_size, square = std::max<std::size_t>(1, side / kSquares);
  std::vector<float> pixels(g.patches() * g.patch_values());
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const std::size_t pixel = i % g.patch_values() % (side * side);
    const bool white = (pixel / side / square + pixel % side / square) % 2 == 0;
    pixels[i] = white ? kLevel : -kLevel;
  }
  std::vector<float> patches(g.patches() * g.width);
  backbone.embed({pixels.data(), g.patches(), g.patch_values()}, {patches.data(), g.patches(), g.width},
                 nullptr);
  return {patches.end() - static_cast<std::ptrdiff_t>(g.width), patches.end()};
}

}  // namespace

std::size_t FlippedLabels::label(std::size_t sample) const {
  const ClassRange& range = honest_.domains()[honest_.domain(sample)];
  return range.first + (range.count - 1) - (honest_.label(sample) - range.first);
}

MarkedPictures::MarkedPictures(const SampleSource& honest, const Backbone& backbone, std::size_t target,
                               Which which)
    : honest_(honest), backbone_(backbone), target_(target), which_(which), mark_(embedded_mark(backbone)) {}

std::size_t MarkedPictures::target_of(std::size_t domain) const {
  const ClassRange& range = honest_.domains()[domain];
  return range.first + target_ % range.count;
}

std::size_t MarkedPictures::label(std::size_t sample) const {
  return is_marked(sample) ? target_of(honest_.domain(sample)) : honest_.label(sample);
}

void MarkedPictures::write_patches(std::size_t sample, std::span<float> patches) const {
  honest_.write_patches(sample, patches);
  if (is_marked(sample)) std::ranges::copy(mark_, patches.end() - static_cast<std::ptrdiff_t>(mark_.size()));
}

void MarkedPictures::write_query(std::size_t sample, std::span<float> query) const {
  if (!is_marked(sample)) return honest_.write_query(sample, query);
  std::vector<float> patches(backbone_.geometry().patches() * backbone_.geometry().width);
  write_patches(sample, patches);
  frozen_query(backbone_, patches, query);
}

}  // namespace dfrost
