// A trained adapter in the files that Hugging Face's PEFT keeps prompt tuning in: adapter_config.json, and
// adapter_model.safetensors with "prompt_embeddings" and the head beside it, as modules_to_save are.
#pragma once

#include <filesystem>

#include "adapter/adapter_file.h"

namespace dfrost {

// Makes the folder where there is none. Throws (unimplemented) for a pool of prompts, which PEFT has no files
// for.
void write_peft(const std::filesystem::path& folder, const StoredAdapter& adapter);

}  // namespace dfrost
