// The plane in which some rows vary most: their mean and first two principal axes, for drawing prompt sets
// of hundreds of dimensions on paper. Right to more digits than can be drawn, on the calling thread. An axis
// points so that its largest component is positive: the same rows give the same picture.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "dfrost/matrix_view.h"

namespace dfrost {

using PlanePoint = std::array<double, 2>;

struct PrincipalPlane {
  std::vector<double> mean;                 // [d]
  std::array<std::vector<double>, 2> axes;  // [d] each, of length 1; zeros where the rows do not vary
  std::array<double, 2> variance = {0, 0};  // the share of the rows' variance along each axis

  PlanePoint project(std::span<const float> row) const;
  std::vector<PlanePoint> project_all(MatrixView<const float> rows) const;
};

// Over the rows of all sets, which have the same number of columns.
PrincipalPlane principal_plane(std::span<const MatrixView<const float>> sets);

}  // namespace dfrost
