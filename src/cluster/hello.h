// Before the first round every rank says what it has read: ranks with another dfrost, other settings, another
// backbone or other pictures would compute something else, and nobody would see it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/packing.h"
#include "run/groundwork.h"

namespace dfrost {

struct Hello {
  struct Trait {
    std::string name;   // "train.batch", "the training pictures"
    std::string value;  // a setting, or a short name for much
  };
  std::vector<Trait> traits = {};
  // Why it has none: it could not even read what it needs.
  std::optional<std::string> failure = {};
  std::string why_own_model = {};  // HostModel::why_own()
};

template <typename A>
void pack_fields(A& archive, Hello::Trait& trait) {
  auto& [name, value] = trait;
  archive(name, value);
}
template <typename A>
void pack_fields(A& archive, Hello& hello) {
  auto& [traits, failure, why_own_model] = hello;
  archive(traits, failure, why_own_model);
}

// `weights`: the backbone's weights_fingerprint().
Hello hello_of(const Groundwork& ground, const std::string& weights);

// In what `other` is not as `own`, in words with both; nothing where it is.
std::optional<std::string> first_difference(const Hello& own, const Hello& other);

}  // namespace dfrost
