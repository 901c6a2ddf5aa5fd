// k-means++ (Arthur and Vassilvitskii, 2007): draws points that lie far from one another, each with
// probability proportional to its weight times its squared distance to the nearest point already drawn.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/random.h"
#include "ot/matrix.h"

namespace dfrost {

// `chosen` and as many further rows of `points` as make `count`. While an undrawn position is left no
// position is drawn twice; after that any row may come again.
std::vector<std::size_t> kmeans_plus_plus(const DoubleMatrix& points, std::span<const double> weights,
                                          std::size_t count, std::vector<std::size_t> chosen,
                                          RandomStream& random);

}  // namespace dfrost
