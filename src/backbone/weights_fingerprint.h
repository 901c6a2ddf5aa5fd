// A short name for what a frozen model computes: a hash of all its weights as fp32, and of its heads' width.
// It is the same for the same weights in another file, format or naming, and differs after any training, or
// at another image size, whose position embeddings are others.
#pragma once

#include <string>

#include "backbone/weights.h"
#include "base/content_hash.h"

namespace dfrost {

// 16 hexadecimal digits. Reads the whole model once.
std::string weights_fingerprint(const WeightSource& source);

// For an architecture's add_to().
void add_to_hash(const NormWeights& norm, ContentHash& hash);
void add_to_hash(const LinearWeights& linear, ContentHash& hash);

}  // namespace dfrost
