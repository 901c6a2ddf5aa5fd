// What PFPT's aggregation learns (Weng et al. 2024): centroids φ_i, and two small networks over them that are
// fresh each time. spread, d→128→d (ReLU, sigmoid): the standard deviations of a diagonal Gaussian around
// φ_i; presence, d→128→1 (ReLU, sigmoid): the probability b_i that a sender has a prompt there. All in
// double; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ot/matrix.h"

namespace dfrost {

// A matrix that Adam moves (PyTorch's defaults but for the rate).
struct LearnedMatrix {
  explicit LearnedMatrix(DoubleMatrix start)
      : value(std::move(start)),
        gradient(value.rows(), value.cols()),
        first(value.rows(), value.cols()),
        second(value.rows(), value.cols()) {}

  DoubleMatrix value, gradient;
  DoubleMatrix first, second;  // moments
};

// Of two linear layers, drawn as PyTorch draws them: weights and biases uniform in ±1/√inputs.
struct PoolWeights {
  PoolWeights(std::size_t inputs, std::size_t hidden, std::size_t outputs, std::uint64_t seed,
              std::string_view name);

  // [hidden, inputs], [1, hidden], [outputs, hidden], [1, outputs]
  DoubleMatrix weight1, bias1, weight2, bias2;
};

// Linear, ReLU, linear.
struct PoolNetwork {
  explicit PoolNetwork(PoolWeights start);

  // [n, inputs] → hidden [n, hidden], after the ReLU, and outputs [n, outputs].
  void forward(const DoubleMatrix& inputs, DoubleMatrix& hidden, DoubleMatrix& outputs) const;
  // Adds to the gradients what `d_output`, of one row, brings, and to d_input.
  void backward(std::span<const double> input, std::span<const double> hidden,
                std::span<const double> d_output, std::span<double> d_input);

  LearnedMatrix weight1, bias1, weight2, bias2;  // as those of PoolWeights

 private:
  std::vector<double> d_hidden_;
};

// The slow obvious version; merge/fast_pool_model.h is what a run takes.
class PoolModel {
 public:
  using Rows = DoubleMatrix;  // of prompts

  // `centroids`: where φ starts, [G, d].
  PoolModel(const DoubleMatrix& centroids, std::uint64_t seed);

  static constexpr std::size_t kHidden = 128;

  const DoubleMatrix& centroids() const { return centroids_.value; }

  // The networks' outputs at the centroids as they are now; what follows refers to them.
  void evaluate();
  // scores(j, i) = log N(p_j; φ_i, spread(φ_i)²) + log Bernoulli(c_i; b_i), c_i = 1 where `used`.
  void score(const DoubleMatrix& prompts, const std::vector<bool>& used, DoubleMatrix& scores) const;
  // The centroid of every prompt of a sender, each another one, of highest sum of scores, exactly, where
  // those of `assigned` are used. Evaluates the networks.
  std::vector<std::size_t> best_assignment(const DoubleMatrix& prompts,
                                           std::span<const std::size_t> assigned);
  // One step of Adam that raises the sum of the scores of prompt j and centroid of[j], each of which is used.
  void ascend(const DoubleMatrix& prompts, std::span<const std::size_t> of, double rate);

  // For the slow obvious version of score().
  double spread(std::size_t centroid, std::size_t k) const { return spread_(centroid, k); }
  double presence_logit(std::size_t centroid) const { return presence_(centroid, 0); }

 private:
  void step(LearnedMatrix& learned, double rate);

  LearnedMatrix centroids_;
  PoolNetwork spread_network_, presence_network_;
  DoubleMatrix spread_hidden_, spread_;      // [G, hidden], [G, d]: σ
  DoubleMatrix presence_hidden_, presence_;  // [G, hidden], [G, 1]: the logit of b
  std::size_t steps_ = 0;
};

}  // namespace dfrost
