#include "merge/start.h"

#include <algorithm>
#include <numeric>

#include "base/random.h"
#include "transport/seeding.h"

namespace dfrost {
namespace {

// The first sender's rows: those before the index starts again.
std::size_t own_rows(const Neighbourhood& neighbourhood) {
  const auto& index = neighbourhood.index;
  return static_cast<std::size_t>(std::find(index.begin() + 1, index.end(), std::size_t{0}) - index.begin());
}

Start start_from_previous(const Neighbourhood& neighbourhood, MatrixView<const float> previous) {
  const std::size_t count = neighbourhood.rows.rows();
  Start start{.basis = Matrix(count + previous.rows(), previous.cols()), .chosen = {}};
  for (std::size_t a = 0; a < count; ++a) {
    std::ranges::copy(neighbourhood.rows.row(a), start.basis.row(a).begin());
  }
  start.basis.set_rows(count, previous);
  start.chosen.resize(previous.rows());
  std::iota(start.chosen.begin(), start.chosen.end(), count);
  return start;
}

}  // namespace

Start choose_start(const Neighbourhood& neighbourhood, MatrixView<const float> previous, std::size_t prompts,
                   const MergeOptions& options) {
  if (options.init == MergeInit::previous) return start_from_previous(neighbourhood, previous);
  std::vector<std::size_t> chosen;
  if (options.init == MergeInit::own) {
    chosen.resize(std::min(prompts, own_rows(neighbourhood)));
    std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  }
  RandomStream random(options.seed, "merge start");
  return {
      .basis = neighbourhood.rows,
      .chosen = kmeans_plus_plus(neighbourhood.rows, neighbourhood.mass, prompts, std::move(chosen), random)};
}

}  // namespace dfrost
