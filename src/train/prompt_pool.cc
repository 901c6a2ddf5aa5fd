#include "train/prompt_pool.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "kernels/small_product.h"
#include "kernels/vector_ops.h"

namespace dfrost {
namespace {

std::string_view key_part(const PromptOptions& options) {
  return options.keys == PoolKeys::separate ? kKeysPart : kPromptPart;
}

void inverse_norms(MatrixView<const float> rows, std::vector<float>& inverse) {
  constexpr float kZero = 1e-12f;
  inverse.resize(rows.rows());
  for (std::size_t r = 0; r < rows.rows(); ++r) {
    const float norm = std::sqrt(dot(rows.row(r), rows.row(r)));
    inverse[r] = norm > kZero ? 1.0f / norm : 0.0f;
  }
}

void compute_similarity(MatrixView<const float> keys, PoolPass& pass) {
  inverse_norms(pass.query, pass.inverse_query_norm);
  inverse_norms(keys, pass.inverse_key_norm);
  pass.similarity.resize(pass.query.rows(), keys.rows());
  small_product(Transpose::no, Transpose::yes, pass.query, keys, pass.similarity);
  for (std::size_t i = 0; i < pass.similarity.rows(); ++i) {
    for (std::size_t j = 0; j < keys.rows(); ++j)
      pass.similarity.row(i)[j] *= pass.inverse_query_norm[i] * pass.inverse_key_norm[j];
  }
}

// The indices of the largest scores, increasing.
template <typename Score>
void append_largest(std::span<const Score> scores, std::size_t count, std::vector<std::size_t>& chosen) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(order.begin(), middle, order.end(), [&](std::size_t a, std::size_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
  });
  std::sort(order.begin(), middle);
  chosen.insert(chosen.end(), order.begin(), middle);
}

void choose(const PromptOptions& options, PoolPass& pass) {
  pass.chosen.clear();
  for (std::size_t i = 0; i < pass.similarity.rows(); ++i)
    append_largest<float>(pass.similarity.row(i), options.count, pass.chosen);
  if (options.choice == PoolChoice::per_batch) {
    std::vector<std::size_t> votes(pass.similarity.cols());
    for (const std::size_t j : pass.chosen) ++votes[j];
    pass.chosen.clear();
    append_largest<std::size_t>(votes, options.count, pass.chosen);
  }
  if (pass.used.size() < pass.similarity.cols()) pass.used.resize(pass.similarity.cols(), false);
  for (const std::size_t j : pass.chosen) pass.used[j] = true;
}

std::span<const std::size_t> chosen_by(const PromptOptions& options, const PoolPass& pass,
                                       std::size_t image) {
  const std::size_t row = options.choice == PoolChoice::per_input ? image : 0;
  return std::span(pass.chosen).subspan(row * options.count, options.count);
}

// With q̂ and k̂ of length 1: d cos/dq = (k̂ − cos·q̂)/‖q‖, and likewise for the key.
void similarity_backward(double weight, std::size_t image, std::size_t key, MatrixView<const float> keys,
                         PoolPass& pass, MatrixView<float> d_keys) {
  const auto query = pass.query.view().row(image);
  const float cosine = pass.similarity.row(image)[key];
  const float inverse_q = pass.inverse_query_norm[image], inverse_k = pass.inverse_key_norm[key];
  const auto scale = static_cast<float>(weight / static_cast<double>(pass.query.rows()));
  add_scaled(scale * inverse_q * inverse_k, keys.row(key), pass.d_query.row(image));
  add_scaled(-scale * cosine * inverse_q * inverse_q, query, pass.d_query.row(image));
  add_scaled(scale * inverse_q * inverse_k, query, d_keys.row(key));
  add_scaled(-scale * cosine * inverse_k * inverse_k, keys.row(key), d_keys.row(key));
}

}  // namespace

void choose_prompts(const PromptOptions& options, const ClientState& state, MatrixView<const float> features,
                    PoolPass& pass) {
  assert(options.selects());
  const auto prompts = state.prompts();
  pass.query.resize(features.rows(), features.cols());
  small_product(Transpose::no, Transpose::yes, features, state.part(kProjectionPart), pass.query);
  compute_similarity(state.part(key_part(options)), pass);
  choose(options, pass);
  pass.prompts.resize(pass.chosen.size(), prompts.cols());
  for (std::size_t r = 0; r < pass.chosen.size(); ++r)
    std::ranges::copy(prompts.row(pass.chosen[r]), pass.prompts.row(r).begin());
}

double similarity_term(const PromptOptions& options, const PoolPass& pass) {
  if (options.similarity_weight == 0) return 0;
  double sum = 0;
  for (std::size_t i = 0; i < pass.similarity.rows(); ++i) {
    for (const std::size_t j : chosen_by(options, pass, i))
      sum += static_cast<double>(pass.similarity.view()(i, j));
  }
  return options.similarity_weight * sum / static_cast<double>(pass.similarity.rows());
}

void choose_prompts_backward(const PromptOptions& options, const ClientState& state,
                             MatrixView<const float> features, MatrixView<const float> d_prompts,
                             PoolPass& pass, std::span<float> gradient) {
  const auto d_pool = part_of(state.layout, gradient, kPromptPart);
  for (std::size_t r = 0; r < pass.chosen.size(); ++r)
    add_scaled(1.0f, d_prompts.row(r), d_pool.row(pass.chosen[r]));
  if (options.similarity_weight == 0) return;
  const auto keys = state.part(key_part(options));
  const auto d_keys = part_of(state.layout, gradient, key_part(options));
  pass.d_query.resize(pass.query.rows(), pass.query.cols());
  for (std::size_t i = 0; i < pass.query.rows(); ++i) {
    std::ranges::fill(pass.d_query.row(i), 0.0f);
    for (const std::size_t j : chosen_by(options, pass, i))
      similarity_backward(options.similarity_weight, i, j, keys, pass, d_keys);
  }
  small_product(Transpose::yes, Transpose::no, pass.d_query, features,
                part_of(state.layout, gradient, kProjectionPart), {.accumulate = true});
}

}  // namespace dfrost
