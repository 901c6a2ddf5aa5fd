// What PFPT's aggregation learns, as merge/pool_model.h says it, in double as there, but with little else
// than matrix products. Both first layers are one matrix; weights lie inputs first, so that rows of inputs
// times weights are sums of rows; a gradient is a product of as many rows as a sender has prompts, and is
// taken while Adam passes over the weights. A step needs the networks at its sender's own centroids; at the
// others only scores, of which bounds in fp32 (merge/pool_screen.h) say nearly always that they do not
// matter. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "merge/pool_kernels.h"
#include "merge/pool_screen.h"
#include "ot/matrix.h"

namespace dfrost {

class FastPoolModel {
 public:
  using Rows = DoubleMatrix;  // of prompts

  // `centroids`: where φ starts, [G, d].
  FastPoolModel(const DoubleMatrix& centroids, std::uint64_t seed);
  FastPoolModel(const FastPoolModel&) = delete;
  FastPoolModel& operator=(const FastPoolModel&) = delete;

  const DoubleMatrix& centroids() const { return centroids_.value; }

  // As those of PoolModel.
  void evaluate();
  void score(const DoubleMatrix& prompts, const std::vector<bool>& used, DoubleMatrix& scores) const;
  std::vector<std::size_t> best_assignment(const DoubleMatrix& prompts,
                                           std::span<const std::size_t> assigned);
  void ascend(const DoubleMatrix& prompts, std::span<const std::size_t> of, double rate);

 private:
  struct Slopes;
  class Costs;
  void evaluate(std::span<const std::size_t> centroids);
  // Of a centroid, whatever the prompt.
  double score_alone(std::size_t centroid, bool used) const;
  double score_of(std::span<const double> prompt, std::size_t centroid, double alone) const;
  void start_slopes(const DoubleMatrix& prompts, std::span<const std::size_t> of, Slopes& slopes) const;
  void move_networks(const AdamStep& step, std::span<const std::size_t> of, Slopes& slopes);
  void move_centroids(const AdamStep& step, const DoubleMatrix& slopes, std::span<const std::size_t> of);

  MatrixMemory memory_;
  MovedMatrix centroids_;
  MovedMatrix first_, first_bias_;    // [d, 2·hidden], spread's columns before presence's; [1, 2·hidden]
  MovedMatrix spread_, spread_bias_;  // [hidden, d], [1, d]
  MovedMatrix presence_, presence_bias_;  // [1, 2·hidden] of which the second half counts, [1, 1]
  DoubleMatrix hidden_;                   // [G, 2·hidden], after the ReLU
  DoubleMatrix inverse_spread_;           // [G, d]: 1/σ
  std::vector<double> log_inverse_;       // [G]: Σ log 1/σ
  std::vector<double> logit_;             // [G]: of b
  PoolScreen screen_;
  std::size_t unscreened_ = 0;  // steps that follow without it
  std::size_t steps_ = 0;
};

}  // namespace dfrost
