#include "cli/prompt_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "adapter/adapter_file.h"
#include "base/safetensors.h"
#include "dfrost/error.h"

namespace dfrost::cli {
namespace {

constexpr const char* kTensor = "prompt_embeddings";

// The name of the tensor that holds the prompts.
std::string find_prompts(const Safetensors& content, const std::string& path) {
  if (content.contains(kTensor)) return kTensor;
  std::vector<std::string> candidates;
  for (const auto& [name, tensor] : content.tensors) {
    if (tensor.shape.size() == 2) candidates.push_back(name);
  }
  if (candidates.size() == 1) return candidates.front();
  throw Error(ErrorCode::data_loss,
              fmt::format("no tensor '{}', and {} tensors with two dimensions", kTensor, candidates.size()),
              "a prompt file holds the prompts as [n, d] under that name, or as its only matrix")
      .at(path);
}

}  // namespace

PromptFile read_prompt_file(const std::string& path) {
  const SafetensorsFile file(path);
  if (is_undamaged(file.content()) == false) {
    throw Error(ErrorCode::data_loss, "the adapter is damaged: its checksum is not that of its content",
                "copy it again from the run that it is of")
        .at(path);
  }
  const std::string tensor_name = find_prompts(file.content(), path);
  const auto& tensor = file.content().at(tensor_name);
  if (tensor.shape.size() != 2 || tensor.elements() == 0) {
    throw Error(ErrorCode::data_loss,
                fmt::format("tensor '{}' has shape {}; prompts are [n, d], neither of them 0", tensor_name,
                            to_string(tensor.shape)))
        .at(path);
  }
  PromptFile result{.path = path,
                    .name = std::filesystem::path(path).stem().string(),
                    .prompts = tensor.shape[0],
                    .width = tensor.shape[1],
                    .values = read_floats(tensor, tensor_name)};
  file.file().check();
  const auto bad = std::ranges::find_if_not(result.values, [](float value) { return std::isfinite(value); });
  if (bad != result.values.end()) {
    const auto at = static_cast<std::size_t>(bad - result.values.begin());
    throw Error(ErrorCode::data_loss,
                fmt::format("tensor '{}' is {} at row {}, column {}: not a finite number", tensor_name, *bad,
                            at / result.width, at % result.width))
        .at(path);
  }
  return result;
}

std::vector<PromptFile> read_prompt_files(std::span<const std::string> paths) {
  std::vector<PromptFile> files;
  for (const auto& path : paths) {
    files.push_back(read_prompt_file(path));
    if (files.back().width == files.front().width) continue;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("prompts of {} numbers do not fit those of {}, which have {}", files.back().width,
                            files.front().path, files.front().width),
                "prompt sets belong together when their backbones have the same width")
        .at(path);
  }
  const auto shared = [&](const PromptFile& file) {
    return std::ranges::count(files, file.name, &PromptFile::name) > 1;
  };
  std::vector<std::string> names;
  for (const auto& file : files) names.push_back(shared(file) ? file.path : file.name);
  for (std::size_t f = 0; f < files.size(); ++f) files[f].name = names[f];
  return files;
}

std::vector<MatrixView<const float>> views_of(std::span<const PromptFile> files) {
  std::vector<MatrixView<const float>> views;
  for (const auto& file : files) views.push_back(file.view());
  return views;
}

void protect_prompt_files(const std::string& out, const std::vector<std::string>& inputs, bool overwrite) {
  for (const auto& input : inputs) {
    std::error_code absent;
    if (overwrite || !std::filesystem::equivalent(out, input, absent)) continue;
    throw Error(ErrorCode::invalid_argument, fmt::format("{} is one of the files that are read", out),
                "write to another file, or say --overwrite")
        .at("--out");
  }
}

void write_prompt_file(const std::filesystem::path& path, MatrixView<const float> prompts) {
  const FloatTensor tensor{
      kTensor, {prompts.rows(), prompts.cols()}, {prompts.data(), prompts.rows() * prompts.cols()}};
  write_safetensors(path, {&tensor, 1});
}

}  // namespace dfrost::cli
