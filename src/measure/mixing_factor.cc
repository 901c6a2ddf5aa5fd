#include "measure/mixing_factor.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/random.h"

namespace dfrost {
namespace {

constexpr std::size_t kDenseClients = 200;

// The symmetric tridiagonal matrix that Lanczos builds: diagonal α, and β beside it.
struct Tridiagonal {
  std::vector<double> diagonal;
  std::vector<double> beside;  // one shorter

  // How many eigenvalues lie below x: the negative pivots of an LDLᵀ factorisation of T − x (Sturm).
  std::size_t count_below(double x) const {
    std::size_t count = 0;
    double pivot = 1;
    for (std::size_t i = 0; i < diagonal.size(); ++i) {
      const double coupling = i == 0 ? 0 : beside[i - 1];
      pivot = diagonal[i] - x - coupling * coupling / pivot;
      if (pivot == 0) pivot = -std::numeric_limits<double>::min();
      if (pivot < 0) ++count;
    }
    return count;
  }

  // The eigenvalue with `index` others below it, by bisection; all lie in [−1, 1], as those of W do.
  double eigenvalue(std::size_t index) const {
    double low = -1.001;
    double high = 1.001;
    for (int halvings = 0; halvings < 56; ++halvings) {
      const double middle = 0.5 * (low + high);
      (count_below(middle) > index ? high : low) = middle;
    }
    return 0.5 * (low + high);
  }

  double outermost() const {
    const double least = eigenvalue(0), most = eigenvalue(diagonal.size() - 1);
    return std::abs(least) > std::abs(most) ? least : most;
  }
  double norm() const { return std::abs(outermost()); }

  // The last entry of the unit eigenvector of an eigenvalue.
  double last_entry_at(double eigenvalue) const;
};

// From both ends of T − x to the middle where they fit best (a twisted factorisation: Dhillon and Parlett,
// 2004). From one end alone rounding would swamp an entry as small as this one may be.
double Tridiagonal::last_entry_at(double x) const {
  const std::size_t size = diagonal.size();
  const auto nonzero = [](double pivot) { return pivot == 0 ? std::numeric_limits<double>::min() : pivot; };
  std::vector<double> down(size), up(size);
  for (std::size_t i = 0; i < size; ++i)
    down[i] = nonzero(diagonal[i] - x - (i == 0 ? 0 : beside[i - 1] * beside[i - 1] / down[i - 1]));
  for (std::size_t i = size; i-- > 0;)
    up[i] = nonzero(diagonal[i] - x - (i + 1 == size ? 0 : beside[i] * beside[i] / up[i + 1]));
  std::size_t middle = 0;
  const auto misfit = [&](std::size_t i) { return std::abs(down[i] + up[i] - (diagonal[i] - x)); };
  for (std::size_t i = 1; i < size; ++i)
    if (misfit(i) < misfit(middle)) middle = i;
  double norm_squared = 1, entry = 1;
  for (std::size_t i = middle; i-- > 0;) {
    entry *= -beside[i] / down[i];
    norm_squared += entry * entry;
  }
  entry = 1;
  for (std::size_t i = middle + 1; i < size; ++i) {
    entry *= -beside[i - 1] / up[i];
    norm_squared += entry * entry;
  }
  return entry / std::sqrt(norm_squared);
}

class Lanczos {
 public:
  explicit Lanczos(const MixingMatrix& mixing)
      : mixing_(mixing), current_(mixing.clients()), previous_(mixing.clients()), next_(mixing.clients()) {
    // A random start has a share in every eigenvector; which one does not matter to the result.
    RandomStream random(0, "lanczos");
    for (double& value : current_) value = random.uniform(-1, 1);
    remove_mean(current_);
    scale(current_, 1 / norm(current_));
  }

  // False when the vectors reached span everything that W makes of the start: then T is complete.
  bool step() {
    if (finished_) return false;
    mixing_.apply(current_, next_);
    remove_mean(next_);  // W − 11ᵀ/M
    const double alpha = std::inner_product(current_.begin(), current_.end(), next_.begin(), 0.0);
    const double last_beta = tridiagonal_.diagonal.empty() ? 0 : beta_;
    if (!tridiagonal_.diagonal.empty()) tridiagonal_.beside.push_back(beta_);
    tridiagonal_.diagonal.push_back(alpha);
    for (std::size_t i = 0; i < next_.size(); ++i) {
      next_[i] -= alpha * current_[i] + last_beta * previous_[i];
    }
    beta_ = norm(next_);
    finished_ = beta_ < 1e-14;
    if (!finished_) scale(next_, 1 / beta_);
    std::swap(previous_, current_);
    std::swap(current_, next_);
    return true;
  }

  const Tridiagonal& tridiagonal() const { return tridiagonal_; }
  // How long what W leaves over of the unit eigenvector is that was found of an eigenvalue of T: some
  // eigenvalue of W is as near (Paige, 1971: also where the vectors are no longer orthogonal, up to
  // rounding).
  double residual_at(double eigenvalue) const {
    return finished_ ? 0 : beta_ * std::abs(tridiagonal_.last_entry_at(eigenvalue));
  }

 private:
  static double norm(const std::vector<double>& x) {
    return std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
  }
  static void scale(std::vector<double>& x, double factor) {
    for (double& value : x) value *= factor;
  }
  static void remove_mean(std::vector<double>& x) {
    const double mean = std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
    for (double& value : x) value -= mean;
  }

  const MixingMatrix& mixing_;
  Tridiagonal tridiagonal_;
  std::vector<double> current_, previous_, next_;
  double beta_ = 0;
  bool finished_ = false;
};

// Of W − 11ᵀ/M.
Eigen::VectorXd dense_eigenvalues(const MixingMatrix& mixing) {
  const auto clients = static_cast<Eigen::Index>(mixing.clients());
  Eigen::MatrixXd matrix =
      Eigen::MatrixXd::Constant(clients, clients, -1.0 / static_cast<double>(mixing.clients()));
  for (ClientId client = 0; client < mixing.clients(); ++client) {
    const auto neighbours = mixing.graph().neighbours(client);
    const auto weights = mixing.neighbour_weights(client);
    matrix(client, client) += mixing.self_weight(client);
    for (std::size_t i = 0; i < neighbours.size(); ++i) matrix(client, neighbours[i]) += weights[i];
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(matrix, Eigen::EigenvaluesOnly);
  return solver.eigenvalues();
}

// What either solver is right to at best; the tests hold both to it.
constexpr double kRounding = 1e-12;

MixingEstimate estimate_after(const Lanczos& lanczos) {
  const double outermost = lanczos.tridiagonal().outermost();
  return {std::abs(outermost), std::max(kRounding, lanczos.residual_at(outermost))};
}

// Steps until they no longer change a figure of T.
template <typename Figure>
Lanczos converged(const MixingMatrix& mixing, const Figure& figure) {
  constexpr double kTolerance = 1e-13;
  const std::size_t most_steps = 1024 + 16 * mixing.clients();
  Lanczos lanczos(mixing);
  double last = -2;
  for (std::size_t steps = 16; steps <= most_steps; steps *= 2) {
    while (lanczos.tridiagonal().diagonal.size() < steps && lanczos.step()) continue;
    const double now = figure(lanczos.tridiagonal());
    const bool complete = lanczos.tridiagonal().diagonal.size() < steps;
    if (complete || std::abs(now - last) <= kTolerance) break;
    last = now;
  }
  return lanczos;
}

}  // namespace

MixingEstimate estimate_mixing(const MixingMatrix& mixing) {
  if (mixing.clients() <= 1) return {};
  // Both solvers would find it too, up to rounding; a reader should see exactly 1.
  if (!is_connected(mixing.graph())) return {1, 0};
  if (mixing.clients() <= kDenseClients) return {mixing_factor_dense(mixing), kRounding};
  return estimate_after(converged(mixing, [](const Tridiagonal& t) { return t.norm(); }));
}

MixingEstimate mixing_after_steps(const MixingMatrix& mixing, std::size_t steps) {
  Lanczos lanczos(mixing);
  while (lanczos.tridiagonal().diagonal.size() < steps && lanczos.step()) continue;
  return estimate_after(lanczos);
}

double mixing_factor(const MixingMatrix& mixing) { return estimate_mixing(mixing).factor; }

double mixing_factor_dense(const MixingMatrix& mixing) {
  return dense_eigenvalues(mixing).cwiseAbs().maxCoeff();
}

double mixing_factor_lanczos(const MixingMatrix& mixing) {
  if (mixing.clients() <= 1) return 0;
  return converged(mixing, [](const Tridiagonal& t) { return t.norm(); }).tridiagonal().norm();
}

// On the vectors that sum to zero, as above; on the constant ones W has the eigenvalue 1.
double least_eigenvalue(const MixingMatrix& mixing) {
  if (mixing.clients() <= 1) return 0;
  if (mixing.clients() <= kDenseClients) return dense_eigenvalues(mixing).minCoeff();
  const auto lanczos = converged(mixing, [](const Tridiagonal& t) { return t.eigenvalue(0); });
  return std::min(0.0, lanczos.tridiagonal().eigenvalue(0));
}

}  // namespace dfrost
