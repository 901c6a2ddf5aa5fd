// Which settings decide a run's values, and which only how it goes about them (threads, number of rounds,
// where files lie, scoring): two configs that agree in the first compute the same from the same pictures and
// weights.
#pragma once

#include <optional>
#include <string>

#include "config/config.h"
#include "network/letter.h"

namespace dfrost {

// One line a key. `precision`: the one that is really used, which the config may leave open.
std::string deciding_settings_text(const RunConfig& config, Precision precision);

// Names the run that a letter belongs to: peers with other settings or another seed have another one. Of the
// settings alone: what differs from site to site, pictures and paths, does not count.
RunId run_id(const RunConfig& config, Precision precision);

// A setting that decides a run's values.
struct SettingChange {
  std::string key;          // "train.batch"
  std::string before, now;  // as TOML
};

// The first, in the order of a file, that two configs give another value; nothing where they agree in all of
// these. `precision`: the one that is used now, which `now` may leave open.
std::optional<SettingChange> first_change(const RunConfig& before, const RunConfig& now, Precision precision);

}  // namespace dfrost
