// What PFPT's aggregation learns, as merge/pool_model.h says it, in double as there, but with little else
// than matrix products. Both first layers are one matrix; weights lie inputs first, so that rows of inputs
// times weights are sums of rows; a gradient is a product of as many rows as a sender has prompts, and is
// taken while Adam passes over the weights. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "merge/pool_kernels.h"
#include "ot/matrix.h"

namespace dfrost {

// A matrix that Adam moves.
struct MovedMatrix {
  MovedMatrix(std::size_t rows, std::size_t cols)
      : value(rows, cols), first(rows, cols), second(rows, cols) {}

  AdamRow row(std::size_t r) { return {value.row(r), first.row(r), second.row(r)}; }

  DoubleMatrix value;
  DoubleMatrix first, second;  // moments
};

class FastPoolModel {
 public:
  using Rows = DoubleMatrix;  // of prompts

  // `centroids`: where φ starts, [G, d].
  FastPoolModel(DoubleMatrix centroids, std::uint64_t seed);

  const DoubleMatrix& centroids() const { return centroids_.value; }

  // As those of PoolModel.
  void evaluate();
  void score(const DoubleMatrix& prompts, const std::vector<bool>& used, DoubleMatrix& scores) const;
  void ascend(const DoubleMatrix& prompts, std::span<const std::size_t> of, double rate);

 private:
  struct Slopes;
  Slopes slopes_at(const DoubleMatrix& prompts, std::span<const std::size_t> of) const;
  void move_centroids(const AdamStep& step, const DoubleMatrix& slopes, std::span<const std::size_t> of);

  MovedMatrix centroids_;
  MovedMatrix first_, first_bias_;    // [d, 2·hidden], spread's columns before presence's; [1, 2·hidden]
  MovedMatrix spread_, spread_bias_;  // [hidden, d], [1, d]
  MovedMatrix presence_, presence_bias_;  // [1, 2·hidden] of which the second half counts, [1, 1]
  DoubleMatrix hidden_;                   // [G, 2·hidden], after the ReLU
  DoubleMatrix inverse_spread_;           // [G, d]: 1/σ
  std::vector<double> log_inverse_;       // [G]: Σ log 1/σ
  std::vector<double> logit_;             // [G]: of b
  std::size_t steps_ = 0;
};

}  // namespace dfrost
