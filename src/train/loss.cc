#include "train/loss.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/choice.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

constexpr Choice<ClassMask> kClassMasks[] = {{ClassMask::domain, "domain"}, {ClassMask::none, "none"}};

std::size_t best_of(std::span<const float> logits, const ClassRange& range) {
  const auto part = logits.subspan(range.first, range.count);
  return range.first + static_cast<std::size_t>(std::ranges::max_element(part) - part.begin());
}

void check_target(const Target& target, std::size_t classes) {
  const auto& domain = target.domain;
  if (domain.first + domain.count > classes || !domain.contains(target.label))
    throw Error(ErrorCode::failed_precondition,
                fmt::format("label {} does not lie in its domain's classes {} … {} of {}", target.label,
                            domain.first, domain.first + domain.count, classes));
}

}  // namespace

std::string_view to_string(ClassMask mask) { return word_of(kClassMasks, mask); }
ClassMask parse_class_mask(std::string_view word) { return parse_choice(kClassMasks, "class mask", word); }

void cross_entropy(MatrixView<const float> logits, std::span<const Target> targets, ClassMask mask,
                   std::span<Outcome> outcomes, MatrixView<float> d_logits) {
  assert(targets.size() == logits.rows() && outcomes.size() == logits.rows());
  const ClassRange all{0, logits.cols()};
  for (std::size_t i = 0; i < logits.rows(); ++i) {
    const auto& target = targets[i];
    check_target(target, logits.cols());
    const auto row = logits.row(i);
    const std::size_t best_masked = best_of(row, target.domain), best = best_of(row, all);
    const ClassRange range = mask == ClassMask::domain ? target.domain : all;
    const auto largest = static_cast<double>(row[mask == ClassMask::domain ? best_masked : best]);
    double sum = 0;
    for (const float logit : row.subspan(range.first, range.count))
      sum += std::exp(static_cast<double>(logit) - largest);
    const double log_sum = largest + std::log(sum);
    outcomes[i] = {log_sum - static_cast<double>(row[target.label]), best_masked == target.label,
                   best == target.label};
    if (d_logits.empty()) continue;
    const auto d_row = d_logits.row(i);
    const double share = 1.0 / static_cast<double>(logits.rows());
    std::ranges::fill(d_row, 0.0f);
    for (std::size_t c = range.first; c < range.first + range.count; ++c) {
      const double p = std::exp(static_cast<double>(row[c]) - log_sum);
      d_row[c] = static_cast<float>(share * (p - (c == target.label ? 1.0 : 0.0)));
    }
  }
}

}  // namespace dfrost
