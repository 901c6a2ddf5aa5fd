#include "train/kernel_evolution.h"

#include <algorithm>
#include <cmath>

#include "kernels/small_product.h"

namespace dfrost {
namespace {

// softmax(f) − Y of one picture, and its cross-entropy where it is wanted: few steps need it, and a logarithm
// for each picture and step is felt.
enum class Wanted { residual, entropy };
double residual_of(std::span<const double> all, const Target& target, std::span<double> residual,
                   Wanted wanted) {
  std::ranges::fill(residual, 0.0);
  const auto f = all.subspan(target.domain.first, target.domain.count);
  const auto own = residual.subspan(target.domain.first, target.domain.count);
  const double largest = *std::max_element(f.begin(), f.end());
  double sum = 0;
  for (std::size_t c = 0; c < f.size(); ++c) sum += own[c] = std::exp(f[c] - largest);
  for (double& value : own) value /= sum;
  residual[target.label] -= 1;
  return wanted == Wanted::entropy ? std::log(sum) - (all[target.label] - largest) : 0;
}

class Evolver {
 public:
  Evolver(MatrixView<const float> kernel, std::span<const Target> targets, std::size_t classes,
          const EvolutionOptions& options)
      : kernel_(kernel),
        targets_(targets),
        classes_(classes),
        options_(options),
        sum_(targets.size() * classes) {
    residual_.resize(targets.size(), classes);
    product_.resize(targets.size(), classes);
    row_.resize(classes);
  }

  void derive(std::span<const double> f, std::span<double> derivative) {
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      residual_of(f.subspan(i * classes_, classes_), targets_[i], row_, Wanted::residual);
      std::ranges::transform(row_, residual_.view().row(i).begin(),
                             [](double value) { return static_cast<float>(value); });
    }
    small_product(Transpose::no, Transpose::no, kernel_, residual_, product_);
    const double share = -1.0 / static_cast<double>(targets_.size());
    for (std::size_t i = 0; i < derivative.size(); ++i)
      derivative[i] = share * static_cast<double>(product_.data()[i]);
  }

  // After `step` steps: are these the best yet? Then they count among those gone.
  void look_at(std::size_t step, std::span<const double> f, Evolution& best) {
    const bool may_end = std::ranges::binary_search(options_.steps, step);
    double loss = 0;
    step_.resize(sum_.size());
    for (std::size_t i = 0; i < targets_.size(); ++i)
      loss += residual_of(f.subspan(i * classes_, classes_), targets_[i],
                          std::span(step_).subspan(i * classes_, classes_),
                          may_end ? Wanted::entropy : Wanted::residual);
    loss /= static_cast<double>(targets_.size());
    if (may_end && (best.steps == 0 || loss < best.loss)) {
      best.steps = step;
      best.loss = loss;
      best.residual.resize(targets_.size(), classes_);
      std::ranges::transform(sum_, best.residual.data(),
                             [](double value) { return static_cast<float>(value); });
    }
    for (std::size_t i = 0; i < sum_.size(); ++i) sum_[i] += step_[i];
  }

 private:
  MatrixView<const float> kernel_;
  std::span<const Target> targets_;
  std::size_t classes_;
  const EvolutionOptions& options_;
  Matrix<float> residual_, product_;
  std::vector<double> row_, step_, sum_;
};

}  // namespace

Evolution evolve_outputs(MatrixView<const float> kernel, MatrixView<const float> outputs,
                         std::span<const Target> targets, const EvolutionOptions& options) {
  std::vector<double> f;
  for (std::size_t r = 0; r < outputs.rows(); ++r)
    f.insert(f.end(), outputs.row(r).begin(), outputs.row(r).end());
  std::vector<double> times(options.steps.back() + 1);
  for (std::size_t k = 0; k < times.size(); ++k) times[k] = options.rate * static_cast<double>(k);
  Evolver evolver(kernel, targets, outputs.cols(), options);
  Evolution best;
  best.solver = solve_ode(
      [&](double, std::span<const double> y, std::span<double> derivative) { evolver.derive(y, derivative); },
      times, f, options.solver,
      [&](std::size_t step, std::span<const double> y) { evolver.look_at(step, y, best); });
  return best;
}

}  // namespace dfrost
