// What noise promises: the Rényi divergence of a Gaussian mechanism on a Poisson sample (Mironov, Talwar and
// Zhang 2019), added up over steps and turned into (ε, δ). Neighbours differ by one record, there or not
// there, whose part in what is noised has at most the norm C; the noise has the deviation σ·C, and each
// record is in a step's sample with probability q, by itself. Plain functions of numbers.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace dfrost {

// The divergence of order α > 1 of one step, D_α((1 − q)·N(0, σ²) + q·N(1, σ²) ‖ N(0, σ²)): by the binomial
// sum for whole orders and by two series for the others. Infinite where σ is 0 and q is not.
double gaussian_divergence(double sampling_rate, double noise, double order);

enum class DivergenceToEpsilon {
  canonne,  // Canonne, Kamath and Steinke (2020), proposition 12: the tighter
  mironov,  // Mironov (2017), proposition 3: what was published before 2020
};

// The least ε that any of the orders gives for this δ; divergences[i] is that of orders[i].
double epsilon_of(std::span<const double> orders, std::span<const double> divergences, double delta,
                  DivergenceToEpsilon by = DivergenceToEpsilon::canonne);

// 1.1, 1.2 … 10.9, 11, 12 … 64, and then further and further apart up to 1024.
std::span<const double> usual_orders();

// Steps that are alike.
struct GaussianSteps {
  double sampling_rate = 1;  // q
  double noise = 1;          // σ
  double count = 0;
  bool operator==(const GaussianSteps&) const = default;
};

// Of all of them together, whichever were taken in view of whichever results.
double epsilon_of(std::span<const GaussianSteps> steps, double delta);

// The least σ, to one part in ten thousand, with which so many steps give no more than ε. Throws
// (invalid_argument) where none up to a million does.
double noise_for(double epsilon, double delta, double sampling_rate, double count);

}  // namespace dfrost
