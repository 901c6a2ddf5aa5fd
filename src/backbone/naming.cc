#include "backbone/naming.h"

#include <fmt/format.h>

namespace dfrost {
namespace {

Naming timm_naming() {
  return {.family = Family::timm,
          .patch = "patch_embed.proj.",
          .class_token = "cls_token",
          .distillation_token = "dist_token",
          .positions = "pos_embed",
          .block = "blocks.",
          .norm1 = "norm1.",
          .qkv = {"attn.qkv."},
          .projection = "attn.proj.",
          .norm2 = "norm2.",
          .fc1 = "mlp.fc1.",
          .fc2 = "mlp.fc2.",
          .final_norm = "norm.",
          .heads = {"head.", "head_dist."},
          .ignored = {}};
}

// The two layers of the MLP were called linear_1 and linear_2 until torchvision 0.12.
Naming torchvision_naming(bool old_mlp) {
  return {.family = Family::torchvision,
          .patch = "conv_proj.",
          .class_token = "class_token",
          .distillation_token = "",
          .positions = "encoder.pos_embedding",
          .block = "encoder.layers.encoder_layer_",
          .norm1 = "ln_1.",
          .qkv = {"self_attention.in_proj_"},
          .projection = "self_attention.out_proj.",
          .norm2 = "ln_2.",
          .fc1 = old_mlp ? "mlp.linear_1." : "mlp.0.",
          .fc2 = old_mlp ? "mlp.linear_2." : "mlp.3.",
          .final_norm = "encoder.ln.",
          .heads = {"heads.head."},
          .ignored = {}};
}

// A bare model has no prefix; a classifier holds the model as `vit.` or `deit.` and its head beside it.
Naming hugging_face_naming(const std::string& prefix, bool two_heads) {
  Naming naming{
      .family = Family::hugging_face,
      .patch = prefix + "embeddings.patch_embeddings.projection.",
      .class_token = prefix + "embeddings.cls_token",
      .distillation_token = prefix + "embeddings.distillation_token",
      .positions = prefix + "embeddings.position_embeddings",
      .block = prefix + "encoder.layer.",
      .norm1 = "layernorm_before.",
      .qkv = {"attention.attention.query.", "attention.attention.key.", "attention.attention.value."},
      .projection = "attention.output.dense.",
      .norm2 = "layernorm_after.",
      .fc1 = "intermediate.dense.",
      .fc2 = "output.dense.",
      .final_norm = prefix + "layernorm.",
      .heads = {"classifier."},
      .ignored = {prefix + "pooler.", prefix + "embeddings.mask_token"}};
  if (two_heads) naming.heads = {"cls_classifier.", "distillation_classifier."};
  return naming;
}

// Recognised by either end, so that a checkpoint from which one is missing still gets an error about that
// tensor.
bool recognised(const Naming& naming, const TensorDescriptions& tensors) {
  return tensors.contains(naming.patch + "weight") ||
         tensors.contains(naming.in_block(0, naming.qkv.front()) + "weight");
}

}  // namespace

std::string_view to_string(Family family) {
  switch (family) {
    case Family::hugging_face: return "Hugging Face";
    case Family::timm: return "timm";
    case Family::torchvision: return "torchvision";
    case Family::built_in: return "dfrost";
  }
  return "unknown";
}

std::string Naming::in_block(std::size_t index, std::string_view stem) const {
  return fmt::format("{}{}.{}", block, index, stem);
}

std::optional<Naming> detect_naming(const TensorDescriptions& tensors) {
  const bool old_mlp = tensors.contains("encoder.layers.encoder_layer_0.mlp.linear_1.weight");
  const bool two_heads = tensors.contains("cls_classifier.weight");
  for (auto& naming : {timm_naming(), torchvision_naming(old_mlp), hugging_face_naming("vit.", two_heads),
                       hugging_face_naming("deit.", two_heads), hugging_face_naming("", two_heads)}) {
    if (recognised(naming, tensors)) return naming;
  }
  return std::nullopt;
}

}  // namespace dfrost
