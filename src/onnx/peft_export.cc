#include "onnx/peft_export.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/safetensors.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

// "head.0.weight" of a linear head is "classifier.weight", of several layers "classifier.0.weight".
std::string peft_name(const std::string& name, std::size_t layers) {
  if (name == kPromptPart) return name;
  const std::string rest = name.substr(std::string_view("head.").size());
  return "base_model.model.classifier." + (layers == 1 ? rest.substr(rest.find('.') + 1) : rest);
}

nlohmann::ordered_json config_of(const AdapterCard& card) {
  return {{"peft_type", "PROMPT_TUNING"},
          {"task_type", nullptr},
          {"base_model_name_or_path", card.backbone},
          {"inference_mode", true},
          {"num_virtual_tokens", card.adapter.prompts.count},
          {"token_dim", card.geometry.width},
          {"num_transformer_submodules", 1},
          {"num_attention_heads", card.geometry.heads},
          {"num_layers", card.geometry.depth},
          {"prompt_tuning_init", "RANDOM"},
          {"modules_to_save", {"classifier"}}};
}

}  // namespace

void write_peft(const std::filesystem::path& folder, const StoredAdapter& adapter) {
  if (adapter.card.adapter.prompts.selects())
    throw Error(ErrorCode::unimplemented, "PEFT's prompt tuning has no pool of prompts to choose from",
                "use the adapter with dfrost itself, or with dfrost.torch.attach()");
  auto tensors = tensors_of(adapter.state);
  const std::size_t layers = (tensors.size() - 1) / 2;  // a weight and a bias each, beside the prompts
  for (auto& tensor : tensors) tensor.name = peft_name(tensor.name, layers);
  std::filesystem::create_directories(folder);
  const auto config = config_of(adapter.card);
  write_file_atomically(folder / "adapter_config.json", dump_json(config, 2) + "\n");
  write_safetensors(folder / "adapter_model.safetensors", tensors,
                    {{"format", "pt"}, {"card", dump_json(to_json(adapter.card))}});
}

}  // namespace dfrost
