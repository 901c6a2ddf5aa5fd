#include <numeric>

#include "merge/prompt_space.h"
#include "transport/row_kernels.h"

namespace dfrost {
namespace {

class DirectSpace final : public PromptSpace {
 public:
  DirectSpace(const Matrix& rows, std::size_t prompts)
      : rows_(rows),
        every_row_(rows.rows()),
        weights_by_row_(rows.rows(), prompts),
        prompts_(prompts, rows.cols()),
        before_(prompts, rows.cols()) {
    std::iota(every_row_.begin(), every_row_.end(), std::size_t{0});
  }

  double move_to(const Position& position) override {
    std::swap(prompts_, before_);
    for (std::size_t i = 0; i < prompts_.rows(); ++i) {
      const auto weights = position.weights.row(i);
      for (std::size_t k = 0; k < weights.size(); ++k) weights_by_row_(k, i) = position.scale[i] * weights[k];
    }
    prompts_.fill_with_zeros();
    add_weighted_rows(rows_, every_row_, weights_by_row_, prompts_);
    double moved = 0;
    for (std::size_t i = 0; i < prompts_.rows(); ++i) {
      const auto now = prompts_.row(i), before = before_.row(i);
      for (std::size_t k = 0; k < now.size(); ++k) moved += (now[k] - before[k]) * (now[k] - before[k]);
    }
    return moved;
  }

  void measure(Matrix& distances) const override { squared_distances(prompts_, rows_, distances); }

  double squared_norm() const override {
    double sum = 0;
    for (std::size_t i = 0; i < prompts_.rows(); ++i) {
      for (const double value : prompts_.row(i)) sum += value * value;
    }
    return sum;
  }

  Matrix prompts() const override { return prompts_; }

 private:
  const Matrix& rows_;
  std::vector<std::size_t> every_row_;
  Matrix weights_by_row_;
  Matrix prompts_;
  Matrix before_;
};

}  // namespace

std::unique_ptr<PromptSpace> make_direct_space(const Matrix& rows, std::size_t prompts) {
  return std::make_unique<DirectSpace>(rows, prompts);
}

}  // namespace dfrost
