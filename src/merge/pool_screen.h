// What scores of PFPT's aggregation (merge/pool_model.h) cannot exceed, in fp32. Nearly all centroids are out
// of the question for a prompt; a bound on their scores shows it at a fraction of what the scores cost. It
// holds whatever is rounded on the way: each sum of n products of fp32 is off by at most n·2⁻²⁴ of its terms'
// sizes (Higham 2002, §3.1), and norms bound those. The presence network is left out: a logarithm of a
// probability is at most 0. One thread.
#pragma once

#include <cstddef>
#include <span>

#include "ot/matrix.h"

namespace dfrost {

// What is learned, in fp32; layers as in merge/fast_pool_model.h.
struct RoundedPool {
  const FloatMatrix& centroids;             // [G, d]
  const FloatMatrix &first, &first_bias;    // [d, hidden], [1, hidden]: spread's columns alone
  const FloatMatrix &spread, &spread_bias;  // [hidden, d], [1, d]; beyond d a bias at which σ is 1
};

class PoolScreen {
 public:
  PoolScreen(std::size_t centroids, std::size_t hidden, std::size_t width);

  // costs(j, i), for each i of `rows`: −score of prompt j at centroid i is that or more. Prompts are values
  // of fp32. Not finite where fp32 does not reach so far.
  void bound(const RoundedPool& pool, const DoubleMatrix& prompts, std::span<const std::size_t> rows,
             DoubleMatrix& costs);

 private:
  // By how much logarithms of σ at a centroid are off, each of them.
  struct Norms;
  static Norms norms_of(const RoundedPool& pool, FloatMatrix& sums);
  double error_at(const Norms& norms, const RoundedPool& pool, std::size_t centroid) const;

  FloatMatrix hidden_;          // [G, hidden], after the ReLU
  FloatMatrix inverse_spread_;  // [G, d]: 1/σ
  FloatMatrix sums_;            // [1, d]
};

}  // namespace dfrost
