// The pieces of a checkpoint that is a plain vision transformer.
#pragma once

#include "backbone/checkpoint.h"
#include "backbone/vit_weights.h"

namespace dfrost::test {

inline const VitWeights& vit_weights_of(const Checkpoint& checkpoint) {
  return dynamic_cast<const VitWeights&>(checkpoint.weights());
}

}  // namespace dfrost::test
