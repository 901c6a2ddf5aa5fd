// What every public function here asks of its input, said once: each breach is an invalid_argument that names
// the place, so that no NaN and no empty set ever reaches a solver.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "dfrost/matrix_view.h"

namespace dfrost {

// At least one row and one column, and every value finite.
void check_points(MatrixView<const float> points, const std::string& place);

// Also of the given width: sets that are compared or merged live in one space.
void check_points(MatrixView<const float> points, std::size_t width, const std::string& place);

// The weights divided by their sum, which must be one up to 1e-6; `count` equal ones where none are given.
std::vector<double> checked_weights(std::span<const double> weights, std::size_t count,
                                    const std::string& place);

}  // namespace dfrost
