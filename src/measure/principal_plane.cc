// The products are small, and clients already run side by side.
#define EIGEN_DONT_PARALLELIZE
#include "measure/principal_plane.h"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace dfrost {
namespace {

// So many are solved at once for all their eigenvectors.
constexpr Eigen::Index kFewRows = 40;

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

// The two largest eigenvalues, fewer where there are not so many, and their eigenvectors as columns.
struct Leading {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
};

Leading leading_of(const Eigen::MatrixXd& symmetric) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(symmetric);  // in increasing order
  const Eigen::Index count = std::min<Eigen::Index>(2, symmetric.rows());
  return {solver.eigenvalues().tail(count).reverse(),
          solver.eigenvectors().rightCols(count).rowwise().reverse()};
}

// As many orthonormal columns as the block has independent ones.
Eigen::MatrixXd orthonormal(const Eigen::MatrixXd& block) {
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> factors(block);
  factors.setThreshold(1e-6);
  return factors.householderQ() * Eigen::MatrixXd::Identity(block.rows(), factors.rank());
}

Eigen::MatrixXd start_block(Eigen::Index rows) {
  constexpr Eigen::Index kColumns = 4;  // more than two, so that equal eigenvalues are all found
  RandomStream random(0, "principal plane");
  Eigen::MatrixXd block(rows, kColumns);
  for (double& value : block.reshaped()) value = random.normal();
  return orthonormal(block);
}

void append(Eigen::MatrixXd& matrix, const Eigen::MatrixXd& columns) {
  matrix.conservativeResize(columns.rows(), matrix.cols() + columns.cols());
  matrix.rightCols(columns.cols()) = columns;
}

// Of wide·wideᵀ, which is never formed: block Lanczos with full reorthogonalisation. Two eigenvectors of
// hundreds are found in a space of some forty dimensions.
Leading leading_by_krylov(const Eigen::MatrixXd& wide) {
  constexpr double kPrecision = 1e-7;
  Eigen::MatrixXd basis, images;
  Eigen::MatrixXd block = start_block(wide.rows());
  while (block.cols() > 0 && basis.cols() < wide.rows() / 2) {
    append(basis, block);
    append(images, wide * (wide.transpose() * block));
    const Leading small = leading_of(basis.transpose() * images);
    const Eigen::MatrixXd vectors = basis * small.vectors;
    const Eigen::MatrixXd rest = images * small.vectors - vectors * small.values.asDiagonal();
    if (rest.norm() <= kPrecision * small.values(0)) return {small.values, vectors};
    Eigen::MatrixXd next = images.rightCols(block.cols());
    for (int pass = 0; pass < 2; ++pass) next -= basis * (basis.transpose() * next);
    block = orthonormal(next);
  }
  return leading_of(wide * wide.transpose());  // hardly any eigenvalue stands out
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
  if (!std::isfinite(total)) return plane;
  const bool few_rows = rows.rows() <= rows.cols();
  const Eigen::MatrixXd wide = few_rows ? rows : Eigen::MatrixXd(rows.transpose());
  const Leading leading =
      wide.rows() <= kFewRows ? leading_of(wide * wide.transpose()) : leading_by_krylov(wide);
  for (Eigen::Index k = 0; k < leading.values.size(); ++k) {
    if (!(leading.values(k) > 1e-12 * total)) break;
    Eigen::VectorXd axis = leading.vectors.col(k);
    if (few_rows) axis = (rows.transpose() * axis).normalized();
    point_upwards(axis);
    plane.axes[static_cast<std::size_t>(k)].assign(axis.begin(), axis.end());
    plane.variance[static_cast<std::size_t>(k)] = leading.values(k) / total;
  }
  return plane;
}

}  // namespace dfrost
