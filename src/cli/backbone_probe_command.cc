// `dfrost backbone probe`: runs tensors from a file through a checkpoint and writes what comes out, so that
// any other implementation can be held against this one.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "backbone/checkpoint.h"
#include "base/safetensors.h"
#include "base/thread_pool.h"
#include "cli/checkpoint_options.h"
#include "cli/command.h"
#include "data/preprocess.h"
#include "dfrost/backbone.h"
#include "dfrost/error.h"

namespace dfrost::cli {
namespace {

struct ProbeArguments {
  std::string checkpoint, input, output;
  std::string precision = "auto";
  CheckpointOptions options;
  bool json = false;
};

struct ProbeInput {
  std::size_t images = 0;
  std::size_t size = 0;     // height and width of an image
  std::size_t prompts = 0;  // per image
  Shape prompt_shape;       // [n, d] or [B, n, d]
  std::vector<float> image_values, prompt_values, d_features;
};

// A tensor of the input file whose shape must be `expected`; 0 there stands for any size.
std::vector<float> read_input(const Safetensors& file, const std::string& path, const std::string& name,
                              const Shape& expected) {
  const auto& tensor = file.at(name);
  const bool fits =
      tensor.shape.size() == expected.size() &&
      std::equal(tensor.shape.begin(), tensor.shape.end(), expected.begin(),
                 [](std::size_t is, std::size_t want) { return is == want || (want == 0 && is > 0); });
  if (!fits) {
    throw Error(ErrorCode::data_loss, fmt::format("tensor '{}' has shape {}, expected {} (0: any)", name,
                                                  to_string(tensor.shape), to_string(expected)))
        .at(path);
  }
  return read_floats(tensor, name);
}

ProbeInput read_images(const Safetensors& file, const std::string& path) {
  ProbeInput in;
  in.image_values = read_input(file, path, "images", {0, 3, 0, 0});
  const Shape& images = file.at("images").shape;
  if (images[2] != images[3]) {
    throw Error(ErrorCode::data_loss,
                fmt::format("tensor 'images' has shape {}: not square", to_string(images)))
        .at(path);
  }
  in.images = images[0];
  in.size = images[2];
  return in;
}

void read_prompts_and_gradient(const Safetensors& file, const std::string& path, std::size_t width,
                               ProbeInput& in) {
  in.prompt_shape = {0, width};
  if (file.contains("prompts")) {
    const Shape& shape = file.at("prompts").shape;
    const bool own = shape.size() == 3;
    in.prompt_values = read_input(file, path, "prompts", own ? Shape{in.images, 0, width} : Shape{0, width});
    in.prompt_shape = shape;
    in.prompts = shape[own ? 1 : 0];
  }
  if (file.contains("feature_gradient")) {
    in.d_features = read_input(file, path, "feature_gradient", {in.images, width});
  }
}

std::vector<float> embed_images(const Backbone& backbone, const ProbeInput& in, ThreadPool& threads) {
  const Geometry& g = backbone.geometry();
  const std::size_t rows = in.images * g.patches(), plane = 3 * in.size * in.size;
  std::vector<float> pixels(rows * g.patch_values()), patches(rows * g.width);
  for (std::size_t i = 0; i < in.images; ++i) {
    planes_to_patches(std::span(in.image_values).subspan(i * plane, plane), in.size, g.patch_size,
                      std::span(pixels).subspan(i * plane, plane));
  }
  backbone.embed({pixels.data(), rows, g.patch_values()}, {patches.data(), rows, g.width}, &threads);
  return patches;
}

// The CLS rows of [images·special_tokens, width].
std::vector<float> class_rows(const std::vector<float>& features, const Geometry& g) {
  std::vector<float> rows;
  for (std::size_t at = 0; at < features.size(); at += g.special_tokens * g.width) {
    rows.insert(rows.end(), features.begin() + static_cast<std::ptrdiff_t>(at),
                features.begin() + static_cast<std::ptrdiff_t>(at + g.width));
  }
  return rows;
}

// The given gradient is of the CLS token; a distillation token gets none.
std::vector<float> spread_gradient(const std::vector<float>& d_features, const Geometry& g) {
  std::vector<float> all(d_features.size() * g.special_tokens, 0.0f);
  for (std::size_t i = 0; i < d_features.size(); ++i) {
    all[i / g.width * g.special_tokens * g.width + i % g.width] = d_features[i];
  }
  return all;
}

void probe(const ProbeArguments& arguments) {
  const auto precision = parse_precision(arguments.precision);
  const SafetensorsFile input(arguments.input);
  ProbeInput in = read_images(input.content(), arguments.input);
  CheckpointOptions options = arguments.options;
  options.image_size = in.size;
  const auto checkpoint = open_named_checkpoint(arguments.checkpoint, options);
  const std::size_t width = checkpoint->geometry().width;
  read_prompts_and_gradient(input.content(), arguments.input, width, in);
  const auto backbone =
      make_backbone(*checkpoint, {.precision = precision, .training = !in.d_features.empty()});
  const Geometry& g = backbone->geometry();
  ThreadPool threads;
  const auto patches = embed_images(*backbone, in, threads);
  const std::size_t specials = in.images * g.special_tokens;
  const Batch batch{in.images,
                    in.prompts,
                    {patches.data(), in.images * g.patches(), width},
                    {in.prompt_values.data(), in.prompt_values.size() / width, width}};
  const auto tape = in.d_features.empty() ? nullptr : backbone->make_tape();
  std::vector<float> features(specials * width), logits(in.images * g.classes),
      d_prompts(in.prompt_values.size());
  backbone->forward(batch, {features.data(), specials, width}, tape.get(), &threads);

  const auto class_features = class_rows(features, g);
  std::vector<FloatTensor> outputs = {{"features", {in.images, width}, class_features}};
  if (g.classes > 0) {
    backbone->classify({features.data(), specials, width}, {logits.data(), in.images, g.classes});
    outputs.push_back({"logits", {in.images, g.classes}, logits});
  }
  if (tape != nullptr && in.prompts > 0) {
    const auto gradient = spread_gradient(in.d_features, g);
    backbone->backward({gradient.data(), specials, width},
                       {d_prompts.data(), d_prompts.size() / width, width}, *tape, &threads);
    outputs.push_back({"prompt_gradient", in.prompt_shape, d_prompts});
  }
  write_safetensors(arguments.output, outputs);

  nlohmann::ordered_json written = {{"out", arguments.output},
                                    {"precision", to_string(backbone->precision())}};
  for (const auto& output : outputs) written["tensors"][output.name] = output.shape;
  if (arguments.json) return print_json(written);
  fmt::print("wrote {} ({})\n", arguments.output, to_string(backbone->precision()));
  for (const auto& output : outputs) fmt::print("  {:<16} {}\n", output.name, to_string(output.shape));
}

}  // namespace

void add_backbone_probe_command(CLI::App& backbone) {
  auto* command = add_command(
      backbone, "probe", "Run tensors from a file through a checkpoint and write what comes out.",
      {"dfrost backbone probe model.safetensors --input in.safetensors --out out.safetensors",
       "  in:  images [B,3,H,W] (normalised), prompts [n,d] or [B,n,d], feature_gradient [B,d] (optional)",
       "  out: features [B,d], logits [B,classes] where there is a head, prompt_gradient as prompts"});
  auto arguments = std::make_shared<ProbeArguments>();
  command->add_option("checkpoint", arguments->checkpoint, "The checkpoint: a file, a folder or a name")
      ->required();
  command
      ->add_option("--input", arguments->input,
                   "safetensors with images and, optionally, prompts and gradient")
      ->required();
  command->add_option("--out", arguments->output, "safetensors to write")->required();
  command->add_option("--precision", arguments->precision, "auto, fp32 or bf16")->capture_default_str();
  add_heads_option(*command, arguments->options);
  add_json_flag(*command, arguments->json);
  command->callback([arguments] { probe(*arguments); });
}

}  // namespace dfrost::cli
