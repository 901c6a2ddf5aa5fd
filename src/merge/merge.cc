#include "dfrost/merge.h"

#include <fmt/format.h>

#include <cmath>

#include "dfrost/error.h"
#include "merge/merge_kinds.h"
#include "merge/neighbourhood.h"
#include "ot/checks.h"

namespace dfrost {
namespace {

// Far beyond any use, and every product of two of them still is a normal number.
constexpr double kLeast = 1e-60, kMost = 1e60;

void check_range(double value, bool may_be_zero, const char* name) {
  if (may_be_zero && value == 0) return;
  if (value >= kLeast && value <= kMost) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{} is {}; it must be {}a number from {:g} to {:g}", name, value,
                          may_be_zero ? "0 or " : "", kLeast, kMost))
      .at(name);
}

void check_sizes(const MergeInput& input, MatrixView<float> merged, const MergeOptions& options) {
  if (input.senders.empty()) {
    throw Error(ErrorCode::invalid_argument, "no prompt sets to merge",
                "a client's own set is the first sender");
  }
  const std::size_t width = input.senders.front().cols();
  if (merged.empty())
    throw Error(ErrorCode::invalid_argument, "a merge into n = 0 prompts was asked for").at("merged");
  if (merged.cols() != width) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the merged set has rows of {}, the senders of {}", merged.cols(), width))
        .at("merged");
  }
  if (options.init != MergeInit::previous) return;
  check_points(input.previous, width, "previous");
  if (input.previous.rows() != merged.rows()) {
    throw Error(ErrorCode::invalid_argument, fmt::format("the previous set has {} prompts, the merged one {}",
                                                         input.previous.rows(), merged.rows()))
        .at("previous");
  }
}

}  // namespace

void MergeOptions::validate() const {
  check_range(epsilon, false, "epsilon");
  check_range(epsilon_init, true, "epsilon_init");
  check_range(lambda, true, "lambda");
  check_range(sigma2, false, "sigma2");
  if (!(trim >= 0 && trim < 1))
    throw Error(ErrorCode::invalid_argument, fmt::format("trim is {}; it must be from 0 to below 1", trim))
        .at("trim");
  if (!(median >= 0))
    throw Error(ErrorCode::invalid_argument, fmt::format("median is {}; it must be 0 or more", median))
        .at("median");
  if (!traits_of(kind).has_free_mass && (trim > 0 || median > 0)) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("a merge of kind '{}' has no mass to leave out or to soften", word_of(kMergeKinds, kind)),
        "use kind = ot")
        .at(trim > 0 ? "trim" : "median");
  }
  if (steps == 0)
    throw Error(ErrorCode::invalid_argument, "steps is 0; a merge takes at least one").at("steps");
  if (!(tolerance >= 0) || !std::isfinite(tolerance)) {
    throw Error(ErrorCode::invalid_argument, fmt::format("tolerance is {}; it must be 0 or more", tolerance))
        .at("tolerance");
  }
}

MergeSummary merge(const MergeInput& input, const MergeOptions& options, MatrixView<float> merged) {
  options.validate();
  check_sizes(input, merged, options);
  const MergeKindRow& kind = traits_of(options.kind);
  if (!input.metric.empty() && !kind.transports) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a merge of kind '{}' has no distances for a metric to change", kind.word),
                "use kind = ot or barycenter")
        .at("metric");
  }
  // With a metric those prompts need images, too.
  const bool gathers_previous = kind.gathers_previous || !input.metric.empty();
  const bool from_previous = gathers_previous && options.init == MergeInit::previous;
  const Neighbourhood all = gather(input, from_previous ? input.previous : MatrixView<const float>());
  auto result = kind.merge(all, input, merged.rows(), options);
  result.prompts.copy_to(merged);
  return std::move(result.summary);
}

}  // namespace dfrost
