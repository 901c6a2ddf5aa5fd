// A prompt set in a safetensors file: the tensor `prompt_embeddings` [n, d], or else the file's only tensor
// with two dimensions. Values are read as fp32 and must be finite.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "dfrost/matrix_view.h"

namespace dfrost::cli {

// No set of prompts is larger; what is asked for beyond it would only take memory.
inline constexpr std::size_t kMostPrompts = 65'536;

// How --help shows a list of one weight per file.
inline constexpr const char* kWeightsForm = "WEIGHT,WEIGHT,...";

struct PromptFile {
  std::string path;
  std::string name;  // short, for tables: the file's name without folder and extension
  std::size_t prompts = 0;
  std::size_t width = 0;
  std::vector<float> values;

  MatrixView<const float> view() const { return {values.data(), prompts, width}; }
};

PromptFile read_prompt_file(const std::string& path);

// Reads several that belong together: all of one width. Names that would be the same become paths.
std::vector<PromptFile> read_prompt_files(std::span<const std::string> paths);

std::vector<MatrixView<const float>> views_of(std::span<const PromptFile> files);

// Throws (invalid_argument) where what is to be written would replace one of the files it is made of, unless
// that was asked for by --overwrite.
void protect_prompt_files(const std::string& out, const std::vector<std::string>& inputs, bool overwrite);

// As `prompt_embeddings`.
void write_prompt_file(const std::filesystem::path& path, MatrixView<const float> prompts);

}  // namespace dfrost::cli
