// A trained adapter with its frozen model as one ONNX file: pictures that are prepared, "pixels"
// [batch, 3, S, S], to "logits" [batch, classes]; fp32 whatever it was trained in. How pictures are prepared
// and what the classes are called is in the metadata: "preprocessing", "classes", and the whole "card".
#pragma once

#include <filesystem>

#include "adapter/adapter_file.h"
#include "backbone/checkpoint.h"

namespace dfrost {

// `checkpoint`: as open_backbone_of() opens it for the card. Throws (unimplemented) for a pool of prompts and
// for architectures other than the plain vision transformer and ConViT.
void write_onnx(const std::filesystem::path& path, const StoredAdapter& adapter,
                const Checkpoint& checkpoint);

}  // namespace dfrost
