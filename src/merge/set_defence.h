// Defences for prompt sets, before they are merged: a set that is far from the client's own is moved towards
// it (clip), and one that is far from all others is not believed at all (reject). Distances are W₂ with equal
// mass on every prompt, so order and number of prompts do not matter. Functions of their input alone.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dfrost/matrix_view.h"

namespace dfrost {

struct ClipOptions {
  double radius = 0;  // no further than this from the own; 0: no limit
  double share = 0;   // and no further than all but this share of the neighbours, rounded up; 0: no limit

  bool is_on() const { return radius > 0 || share > 0; }
};

// What received things at these distances may keep: infinity where nothing limits it.
double clip_radius(std::vector<double> distances, const ClipOptions& options);

// Along the transport plan: a prompt whose mass goes to several of the own ones becomes as many.
struct ClippedSet {
  std::vector<double> points;  // rows of the width of the set; empty: it was near enough, and is as it came
  std::vector<double> masses;  // of the rows; empty: all the same
  double distance = 0;         // W₂ before

  bool is_clipped() const { return !points.empty(); }
};

// sets[0] is the client's own; answers are for all others, in their order. Afterwards none is further from
// the own than the radius.
std::vector<ClippedSet> clip_sets(std::span<const MatrixView<const float>> sets, const ClipOptions& options);

// Which of the sets are outliers: the median of its distances to the rest is more than `factor` times what
// the median set has. sets[0], the client's own, never is.
std::vector<bool> outlying_sets(std::span<const MatrixView<const float>> sets, double factor);

}  // namespace dfrost
