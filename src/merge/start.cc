#include "merge/start.h"

#include <algorithm>
#include <numeric>

#include "base/random.h"
#include "ot/seeding.h"

namespace dfrost {
namespace {

std::vector<std::size_t> consecutive(std::size_t first, std::size_t count) {
  std::vector<std::size_t> rows(count);
  std::iota(rows.begin(), rows.end(), first);
  return rows;
}

// The first sender's rows: those before the index starts again.
std::size_t own_rows(const Neighbourhood& neighbourhood) {
  const auto& index = neighbourhood.index;
  return static_cast<std::size_t>(std::find(index.begin() + 1, index.end(), std::size_t{0}) - index.begin());
}

}  // namespace

std::vector<std::size_t> choose_start(const Neighbourhood& neighbourhood, std::size_t prompts,
                                      const MergeOptions& options) {
  if (options.init == MergeInit::previous) return consecutive(neighbourhood.mass.size(), prompts);
  std::vector<std::size_t> own;
  if (options.init == MergeInit::own) own = consecutive(0, std::min(prompts, own_rows(neighbourhood)));
  RandomStream random(options.seed, "merge start");
  return kmeans_plus_plus(neighbourhood.rows, neighbourhood.mass, prompts, std::move(own), random);
}

}  // namespace dfrost
