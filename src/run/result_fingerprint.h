// A short name for what decides a run's values: two runs with the same one compute the same, so that one may
// go on from the other's checkpoint. Backbone, pictures and how they are prepared, partition and a listed
// network count by their content, wherever their files lie; what changes no result (threads, number of
// rounds, scoring) does not count.
#pragma once

#include <optional>
#include <string>

#include "data/preprocess.h"
#include "run/config.h"
#include "run/federation.h"

namespace dfrost {

// `weights`: the backbone's weights_fingerprint(). `precision`: the one that is really used.
std::string result_fingerprint(const RunConfig& config, const std::string& weights, Precision precision,
                               const Preprocessing& preprocessing, const Federation& federation);

// A setting that decides a run's values.
struct SettingChange {
  std::string key;          // "train.batch"
  std::string before, now;  // as TOML
};

// The first, in the order of a file, that two configs give another value; nothing where they agree in all of
// these. `precision`: the one that is used now, which `now` may leave open.
std::optional<SettingChange> first_change(const RunConfig& before, const RunConfig& now, Precision precision);

// Of a domain's test pictures and their classes: two runs with the same one are scored on the same.
std::string test_fingerprint(const PooledSet& pool, const Domain& domain);

}  // namespace dfrost
