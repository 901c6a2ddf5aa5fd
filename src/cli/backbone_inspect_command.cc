#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <memory>
#include <string>

#include "backbone/checkpoint.h"
#include "backbone/weight_memory.h"
#include "cli/checkpoint_options.h"
#include "cli/command.h"
#include "kernels/cpu.h"

namespace dfrost::cli {
namespace {

struct InspectArguments {
  std::string file;
  CheckpointOptions options;
  bool json = false;
};

std::string_view filter_word(ResizeFilter filter) {
  switch (filter) {
    case ResizeFilter::nearest: return "nearest";
    case ResizeFilter::bilinear: return "bilinear";
    case ResizeFilter::bicubic: return "bicubic";
  }
  return "unknown";
}

std::string megabytes(std::size_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

// 0.485, not the 0.48500001430511475 that the nearest float is.
double shortest(float value) { return std::stod(fmt::format("{}", value)); }
std::array<double, 3> shortest(const std::array<float, 3>& values) {
  return {shortest(values[0]), shortest(values[1]), shortest(values[2])};
}

void print_document(const Checkpoint& checkpoint) {
  const auto& g = checkpoint.geometry();
  const auto& p = checkpoint.preprocessing();
  print_json({
      {"family", to_string(checkpoint.family())},
      {"dtype", checkpoint.dtype()},
      {"parameters", checkpoint.parameters()},
      {"file_bytes", checkpoint.file_bytes()},
      {"geometry",
       {{"width", g.width},
        {"depth", g.depth},
        {"heads", g.heads},
        {"mlp_width", g.mlp_width},
        {"patch_size", g.patch_size},
        {"image_size", g.image_size},
        {"patches", g.patches()},
        {"special_tokens", g.special_tokens},
        {"classes", g.classes},
        {"layer_norm_epsilon", shortest(g.layer_norm_epsilon)}}},
      {"preprocessing",
       {{"origin", checkpoint.preprocessing_origin()},
        {"resize", p.resize},
        {"stretch", p.stretch},
        {"filter", filter_word(p.filter)},
        {"crop", p.crop},
        {"mean", shortest(p.mean)},
        {"std", shortest(p.std)}}},
      {"weight_bytes_fp32", packed_weight_bytes(g, Precision::fp32, true)},
      {"weight_bytes_bf16", packed_weight_bytes(g, Precision::bf16, true)},
      {"bf16_usable", bf16_usable()},
      {"class_names", checkpoint.class_names()},
  });
}

std::string describe_preprocessing(const Preprocessing& p) {
  const std::string resize =
      p.stretch ? fmt::format("both sides to {}", p.resize) : fmt::format("shorter side to {}", p.resize);
  return fmt::format("{} ({}), centre {}", resize, filter_word(p.filter), p.crop);
}

std::string describe_memory(const Geometry& g, Precision precision) {
  return fmt::format("{} to train prompts, {} to classify",
                     megabytes(packed_weight_bytes(g, precision, true)),
                     megabytes(packed_weight_bytes(g, precision, false)));
}

std::string describe_bf16() {
  switch (bf16_unit()) {
    case Bf16Unit::none: return "no: this machine has neither AMX tiles nor AVX512_BF16, so fp32 is used";
    case Bf16Unit::pairs:
      return bf16_is_faster() ? "yes, by AVX512_BF16"
                              : "by AVX512_BF16, which gains nothing here: auto is fp32";
    case Bf16Unit::tiles: return "yes, on AMX tiles";
  }
  return {};
}

void print_table(const std::string& file, const Checkpoint& checkpoint) {
  const auto line = [](std::string_view name, const std::string& value) {
    fmt::print("{:<16}{}\n", name, value);
  };
  const auto& g = checkpoint.geometry();
  const auto& p = checkpoint.preprocessing();
  line("file", fmt::format("{}, {}, {}", file, megabytes(checkpoint.file_bytes()), checkpoint.dtype()));
  line("family", std::string(to_string(checkpoint.family())));
  line("geometry",
       fmt::format("width {}, {} blocks, {} heads, MLP {}", g.width, g.depth, g.heads, g.mlp_width));
  line("input", fmt::format("{0} x {0} pixels in patches of {1}: {2} patches", g.image_size, g.patch_size,
                            g.patches()));
  line("special tokens", g.special_tokens == 1 ? "CLS" : "CLS and distillation");
  line("classes", g.classes == 0 ? "no classifier" : std::to_string(g.classes));
  line("layer norm", fmt::format("epsilon {:.3g}", g.layer_norm_epsilon));
  line("parameters", fmt::format("{:.2f} million", static_cast<double>(checkpoint.parameters()) / 1e6));
  line("pictures", fmt::format("{}   [{}]", describe_preprocessing(p), checkpoint.preprocessing_origin()));
  line("", fmt::format("mean {:.3g}, std {:.3g}", fmt::join(p.mean, " "), fmt::join(p.std, " ")));
  line("memory in fp32", describe_memory(g, Precision::fp32));
  line("memory in bf16", describe_memory(g, Precision::bf16));
  line("bf16 here", describe_bf16());
}

void inspect(const InspectArguments& arguments) {
  const auto checkpoint = open_named_checkpoint(arguments.file, arguments.options);
  tell_doubt_about_pictures(*checkpoint);
  if (arguments.json) return print_document(*checkpoint);
  print_table(arguments.file, *checkpoint);
}

}  // namespace

void add_backbone_inspect_command(CLI::App& backbone) {
  auto* command = add_command(
      backbone, "inspect", "What a checkpoint is, how much memory it takes, and how it will run here.",
      {"dfrost backbone inspect frost-mini                           the one that comes with dfrost",
       "dfrost backbone inspect model.safetensors                    one file, whoever saved it",
       "dfrost backbone inspect vit_b_32.pth                         a state dict saved by PyTorch",
       "dfrost backbone inspect vit-base-patch16-224/                a folder from Hugging Face",
       "dfrost backbone inspect model.safetensors --image-size 384   as it would run on larger pictures"});
  auto arguments = std::make_shared<InspectArguments>();
  command
      ->add_option("file", arguments->file,
                   "A .safetensors or .pth file, an index of shards, a folder, or a name")
      ->required();
  add_checkpoint_options(*command, arguments->options);
  add_json_flag(*command, arguments->json);
  command->callback([arguments] { inspect(*arguments); });
}

}  // namespace dfrost::cli
