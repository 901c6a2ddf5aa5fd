// The products are small, and clients already run side by side.
#define EIGEN_DONT_PARALLELIZE
#include "run/principal_plane.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

namespace dfrost {
namespace {

// All rows, each less their mean.
Eigen::MatrixXd centred_rows(std::span<const MatrixView<const float>> sets, Eigen::VectorXd& mean) {
  Eigen::Index count = 0;
  for (const auto& set : sets) count += static_cast<Eigen::Index>(set.rows());
  Eigen::MatrixXd rows(count, mean.size());
  Eigen::Index next = 0;
  for (const auto& set : sets) {
    for (std::size_t r = 0; r < set.rows(); ++r, ++next) {
      for (std::size_t c = 0; c < set.cols(); ++c) {
        rows(next, static_cast<Eigen::Index>(c)) = static_cast<double>(set(r, c));
      }
    }
  }
  mean = rows.colwise().mean().transpose();
  rows.rowwise() -= mean.transpose();
  return rows;
}

void point_upwards(Eigen::VectorXd& axis) {
  Eigen::Index largest = 0;
  axis.cwiseAbs().maxCoeff(&largest);
  if (axis(largest) < 0) axis = -axis;
}

}  // namespace

PlanePoint PrincipalPlane::project(std::span<const float> row) const {
  PlanePoint point = {0, 0};
  for (std::size_t k = 0; k < 2; ++k) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      point[k] += axes[k][c] * (static_cast<double>(row[c]) - mean[c]);
    }
  }
  return point;
}

std::vector<PlanePoint> PrincipalPlane::project_all(MatrixView<const float> rows) const {
  std::vector<PlanePoint> points;
  for (std::size_t r = 0; r < rows.rows(); ++r) points.push_back(project(rows.row(r)));
  return points;
}

PrincipalPlane principal_plane(std::span<const MatrixView<const float>> sets) {
  const std::size_t width = sets.empty() ? 0 : sets.front().cols();
  PrincipalPlane plane;
  plane.mean.assign(width, 0);
  plane.axes.fill(std::vector<double>(width, 0));
  if (std::ranges::all_of(sets, [](const auto& set) { return set.empty(); })) return plane;

  Eigen::VectorXd mean(static_cast<Eigen::Index>(width));
  const Eigen::MatrixXd rows = centred_rows(sets, mean);
  plane.mean.assign(mean.begin(), mean.end());
  const double total = rows.squaredNorm();
  const bool few_rows = rows.rows() <= rows.cols();
  Eigen::MatrixXd products =
      few_rows ? Eigen::MatrixXd(rows * rows.transpose()) : Eigen::MatrixXd(rows.transpose() * rows);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(products);
  const Eigen::Index count = products.rows();
  for (Eigen::Index k = 0; k < std::min<Eigen::Index>(2, count); ++k) {
    const Eigen::Index column = count - 1 - k;  // eigenvalues come in increasing order
    const double variance = solver.eigenvalues()(column);
    if (!(variance > 1e-12 * total)) break;
    Eigen::VectorXd axis = solver.eigenvectors().col(column);
    if (few_rows) axis = (rows.transpose() * axis).normalized();
    point_upwards(axis);
    plane.axes[static_cast<std::size_t>(k)].assign(axis.begin(), axis.end());
    plane.variance[static_cast<std::size_t>(k)] = variance / total;
  }
  return plane;
}

}  // namespace dfrost
