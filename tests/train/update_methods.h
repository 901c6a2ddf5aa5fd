// The methods whose clients train between two merges that leave as many prompts, with what each sets of
// training.
#pragma once

#include <algorithm>
#include <vector>

#include "config/methods.h"

namespace dfrost::test {

inline std::vector<MethodPreset> update_methods() {
  std::vector<MethodPreset> methods;
  std::ranges::copy_if(method_presets(), std::back_inserter(methods), [](const MethodPreset& method) {
    return method.round == RoundKind::update && method.cooperation == Cooperation::peers &&
           method.pool.kind == PoolMerge::fixed;
  });
  return methods;
}

}  // namespace dfrost::test
