// Looking a preset up by its name.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/quote.h"
#include "base/suggest.h"
#include "dfrost/error.h"

namespace dfrost {

// Throws (invalid_argument, with the nearest name as a hint) for an unknown name; `what` is what it would
// name.
template <typename Preset>
const Preset& find_preset(std::span<const Preset> presets, std::string_view what, std::string_view name) {
  std::vector<std::string> names;
  for (const auto& preset : presets) {
    if (preset.name == name) return preset;
    names.push_back(preset.name);
  }
  throw Error(ErrorCode::invalid_argument, fmt::format("there is no {} {}", what, quote_name(name)),
              did_you_mean(name, names, fmt::format("there are {}", fmt::join(names, ", "))));
}

}  // namespace dfrost
