// The barycenter of wasserstein.h before it is rounded to floats, for those who compute on with it.
#pragma once

#include <cstddef>
#include <span>

#include "base/thread_pool.h"
#include "dfrost/wasserstein.h"
#include "ot/matrix.h"

namespace dfrost {

struct FreeSupportBarycenter {
  DoubleMatrix points;  // [n, d]
  BarycenterSummary summary;
};

// The input is checked by the caller; `weights` sum to one.
FreeSupportBarycenter free_support_barycenter(std::span<const Measure> measures,
                                              std::span<const double> weights, std::size_t points,
                                              const BarycenterOptions& options, ThreadPool& pool);

}  // namespace dfrost
