#include "run/pool_keys.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace dfrost {
namespace {

// Row by row the mean of what was added to it.
class RowMeans {
 public:
  explicit RowMeans(MatrixView<float> means)
      : means_(means), sums_(means.rows() * means.cols()), mass_(means.rows()) {}

  void add(std::span<const float> row, double mass, std::size_t to) {
    double* sum = sums_.data() + to * means_.cols();
    for (std::size_t k = 0; k < row.size(); ++k) sum[k] += mass * static_cast<double>(row[k]);
    mass_[to] += mass;
  }

  // Rows that nothing was added to stay as they are.
  void write() {
    for (std::size_t i = 0; i < means_.rows(); ++i) {
      if (mass_[i] <= 0) continue;
      const double* sum = sums_.data() + i * means_.cols();
      for (std::size_t k = 0; k < means_.cols(); ++k) means_(i, k) = static_cast<float>(sum[k] / mass_[i]);
    }
  }

 private:
  MatrixView<float> means_;
  std::vector<double> sums_;
  std::vector<double> mass_;
};

}  // namespace

void merge_keys(std::span<const MatrixView<const float>> senders, const MergeSummary& summary,
                MatrixView<float> merged) {
  std::vector<bool> is_dead(merged.rows());
  for (const std::size_t i : summary.dead) is_dead[i] = true;
  RowMeans means(merged);
  auto mass = summary.plan.begin();
  for (const auto& keys : senders) {
    for (std::size_t r = 0; r < keys.rows(); ++r) {
      for (std::size_t i = 0; i < merged.rows(); ++i, ++mass) {
        if (*mass > 0 && !is_dead[i]) means.add(keys.row(r), *mass, i);
      }
    }
  }
  means.write();
}

void average_keys(std::span<const MatrixView<const float>> senders, std::span<const Transport> transports,
                  MatrixView<float> merged) {
  RowMeans means(merged);
  for (std::size_t u = 0; u < senders.size(); ++u) {
    for (const auto& [from, to, mass] : transports[u].plan) means.add(senders[u].row(from), mass, to);
  }
  means.write();
}

}  // namespace dfrost
