#include "train/adapter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/choice.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

constexpr Choice<HeadKind> kHeadKinds[] = {
    {HeadKind::linear, "linear"}, {HeadKind::pfpt, "pfpt"}, {HeadKind::mlp, "mlp"}};
constexpr Choice<PromptInit> kPromptInits[] = {{PromptInit::shared, "shared"},
                                               {PromptInit::independent, "independent"}};
constexpr Choice<PoolKeys> kPoolKeys[] = {{PoolKeys::prompts, "prompts"}, {PoolKeys::separate, "separate"}};
constexpr Choice<PoolChoice> kPoolChoices[] = {{PoolChoice::per_input, "per-input"},
                                               {PoolChoice::per_batch, "per-batch"}};

}  // namespace

std::string_view to_string(HeadKind kind) { return word_of(kHeadKinds, kind); }
HeadKind parse_head_kind(std::string_view word) { return parse_choice(kHeadKinds, "head", word); }
std::string_view to_string(PromptInit init) { return word_of(kPromptInits, init); }
std::string_view to_string(PoolKeys keys) { return word_of(kPoolKeys, keys); }
PoolKeys parse_pool_keys(std::string_view word) { return parse_choice(kPoolKeys, "kind of pool keys", word); }
std::string_view to_string(PoolChoice choice) { return word_of(kPoolChoices, choice); }
PoolChoice parse_pool_choice(std::string_view word) {
  return parse_choice(kPoolChoices, "way of choosing prompts", word);
}

void HeadOptions::validate(const Geometry& geometry) const {
  const auto refuse = [](const char* place, const std::string& message, std::string hint = {}) {
    throw Error(ErrorCode::invalid_argument, message, std::move(hint)).at(place);
  };
  if (classes < 2) refuse("head.classes", fmt::format("{} classes: nothing to tell apart", classes));
  if (kind == HeadKind::mlp && std::ranges::count(hidden, std::size_t{0}) > 0)
    refuse("head.hidden", "a hidden layer cannot have 0 units");
  if (!(dropout >= 0 && dropout < 1)) refuse("head.dropout", fmt::format("{} is not in [0, 1)", dropout));
  if (kind == HeadKind::pfpt && geometry.classes == 0)
    refuse("head.kind", "the head 'pfpt' stands on the checkpoint's own classifier, and this one has none",
           "use head 'linear', or a checkpoint with a classifier");
}

void PromptOptions::validate() const {
  const auto refuse = [](const char* place, const std::string& message) {
    throw Error(ErrorCode::invalid_argument, message).at(place);
  };
  if (count == 0 && (pool != 0 || grows))
    refuse("prompts.count", "a pool is there to be chosen from: an image needs at least one of its prompts");
  if (pool != 0 && pool < count)
    refuse("prompts.pool", fmt::format("{} prompts cannot be chosen from a pool of {}", count, pool));
  if (!std::isfinite(similarity_weight)) refuse("prompts.similarity_weight", "not a finite number");
}

void AdapterOptions::validate(const Geometry& geometry) const {
  prompts.validate();
  head.validate(geometry);
}

}  // namespace dfrost
