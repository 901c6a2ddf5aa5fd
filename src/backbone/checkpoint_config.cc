#include "backbone/checkpoint_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "base/json.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "dfrost/error.h"

namespace dfrost {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::array<float, 3> kImageNetMean = {0.485f, 0.456f, 0.406f};
constexpr std::array<float, 3> kImageNetStd = {0.229f, 0.224f, 0.225f};
constexpr std::array<float, 3> kHalf = {0.5f, 0.5f, 0.5f};
constexpr std::size_t kLargest = 1u << 24;  // no size in a config is anywhere near

[[noreturn]] void wrong_kind(std::string_view key, std::string_view expected) {
  throw Error(ErrorCode::data_loss, fmt::format("'{}' is not {}", key, expected));
}

[[noreturn]] void unsupported(std::string_view key, const std::string& found, std::string_view expected,
                              std::string hint = {}) {
  throw Error(ErrorCode::unimplemented, fmt::format("'{}' is {}, expected {}", key, found, expected),
              std::move(hint));
}

// The value of a key, or null where it is absent or null: both mean "not said".
const Json* find(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::size_t whole(const Json& value, std::string_view key) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() == 0 ||
      value.get<std::uint64_t>() > kLargest) {
    wrong_kind(key, "a positive whole number");
  }
  return value.get<std::size_t>();
}

std::optional<std::size_t> optional_whole(const Json& object, const char* key) {
  const Json* value = find(object, key);
  return value == nullptr ? std::nullopt : std::optional(whole(*value, key));
}

double real(const Json& value, std::string_view key) {
  if (!value.is_number() || !std::isfinite(value.get<double>())) wrong_kind(key, "a number");
  return value.get<double>();
}

bool flag(const Json& object, const char* key, bool otherwise) {
  const Json* value = find(object, key);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) wrong_kind(key, "true or false");
  return value->get<bool>();
}

std::string text(const Json& value, std::string_view key) {
  if (!value.is_string()) wrong_kind(key, "a text");
  return value.get<std::string>();
}

std::array<float, 3> channels(const Json& value, std::string_view key) {
  if (!value.is_array() || value.size() != 3) wrong_kind(key, "a list of three numbers");
  std::array<float, 3> numbers{};
  for (std::size_t i = 0; i < 3; ++i) numbers[i] = static_cast<float>(real(value[i], key));
  return numbers;
}

// A square: 224, or {"height": 224, "width": 224}.
std::size_t square(const Json& value, std::string_view key) {
  if (value.is_number()) return whole(value, key);
  const Json* height = value.is_object() ? find(value, "height") : nullptr;
  const Json* width = value.is_object() ? find(value, "width") : nullptr;
  if (height == nullptr || width == nullptr) wrong_kind(key, "a size");
  if (*height != *width) unsupported(key, value.dump(), "a square");
  return whole(*height, key);
}

ResizeFilter filter_named(const std::string& name) {
  if (name == "bilinear") return ResizeFilter::bilinear;
  if (name == "bicubic") return ResizeFilter::bicubic;
  if (name == "nearest") return ResizeFilter::nearest;
  unsupported("interpolation", quote_name(name), "bilinear, bicubic or nearest");
}

ResizeFilter filter_numbered(const Json& value) {
  // Pillow's numbers.
  if (value == 0) return ResizeFilter::nearest;
  if (value == 2) return ResizeFilter::bilinear;
  if (value == 3) return ResizeFilter::bicubic;
  unsupported("resample", value.dump().substr(0, 40), "0 (nearest), 2 (bilinear) or 3 (bicubic)");
}

void check_deviation(const Preprocessing& how, std::string_view key) {
  for (const float value : how.std) {
    if (!(value > 0)) wrong_kind(key, "positive");
  }
}

// --- preprocessor_config.json (Hugging Face) ---

void read_size(const Json& object, Preprocessing& how) {
  const Json* size = find(object, "size");
  if (size == nullptr) wrong_kind("size", "there");
  const Json* edge = size->is_object() ? find(*size, "shortest_edge") : nullptr;
  how.stretch = edge == nullptr;
  how.resize = edge == nullptr ? square(*size, "size") : whole(*edge, "shortest_edge");
}

Preprocessing parse_preprocessor(const Json& object) {
  if (!object.is_object()) wrong_kind("preprocessor_config.json", "an object");
  if (!flag(object, "do_resize", true)) unsupported("do_resize", "false", "true");
  if (!flag(object, "do_rescale", true)) unsupported("do_rescale", "false", "true");
  if (const Json* factor = find(object, "rescale_factor")) {
    if (std::abs(real(*factor, "rescale_factor") * 255 - 1) > 1e-4)
      unsupported("rescale_factor", factor->dump(), "1/255");
  }
  Preprocessing how;
  read_size(object, how);
  const Json* crop = flag(object, "do_center_crop", false) ? find(object, "crop_size") : nullptr;
  how.crop = crop == nullptr ? how.resize : square(*crop, "crop_size");
  if (how.crop > how.resize) unsupported("crop_size", std::to_string(how.crop), "at most 'size'");
  how.filter = ResizeFilter::bilinear;
  if (const Json* resample = find(object, "resample")) how.filter = filter_numbered(*resample);
  how.mean = how.std = kHalf;
  if (const Json* mean = find(object, "image_mean")) how.mean = channels(*mean, "image_mean");
  if (const Json* deviation = find(object, "image_std")) how.std = channels(*deviation, "image_std");
  if (!flag(object, "do_normalize", true)) {
    how.mean = {0, 0, 0};
    how.std = {1, 1, 1};
  }
  check_deviation(how, "image_std");
  return how;
}

// --- config.json of timm ---

Preprocessing parse_pretrained_cfg(const Json& object) {
  if (!object.is_object()) wrong_kind("pretrained_cfg", "an object");
  Preprocessing how;
  how.crop = 224;
  if (const Json* size = find(object, "input_size")) {
    if (!size->is_array() || size->size() != 3 || (*size)[1] != (*size)[2])
      wrong_kind("input_size", "[3, size, size]");
    how.crop = whole((*size)[1], "input_size");
  }
  const Json* share = find(object, "crop_pct");
  const double crop_share = share == nullptr ? 0.875 : real(*share, "crop_pct");
  if (!(crop_share > 0.1 && crop_share <= 1)) unsupported("crop_pct", share->dump(), "between 0.1 and 1");
  // Rounded down, as timm does it: one pixel more would be another picture.
  how.resize = static_cast<std::size_t>(std::floor(static_cast<double>(how.crop) / crop_share));
  const Json* mode = find(object, "crop_mode");
  const std::string crop_mode = mode == nullptr ? "center" : text(*mode, "crop_mode");
  if (crop_mode != "center" && crop_mode != "squash")
    unsupported("crop_mode", quote_name(crop_mode), "center or squash");
  how.stretch = crop_mode == "squash";
  const Json* filter = find(object, "interpolation");
  how.filter = filter == nullptr ? ResizeFilter::bicubic : filter_named(text(*filter, "interpolation"));
  if (const Json* mean = find(object, "mean")) how.mean = channels(*mean, "mean");
  if (const Json* deviation = find(object, "std")) how.std = channels(*deviation, "std");
  check_deviation(how, "std");
  return how;
}

bool has_any_key(const Json& object, std::initializer_list<const char*> keys) {
  return std::ranges::any_of(keys, [&](const char* key) { return find(object, key) != nullptr; });
}

bool is_timm(const Json& object) {
  return has_any_key(object, {"pretrained_cfg", "crop_pct", "model_args", "architecture"});
}

// Choices of timm's models that change what is computed and leave no trace in the tensors.
void refuse_invisible_choices(const Json& arguments) {
  struct Choice {
    const char* key;
    const char* plain;
  };
  for (const auto& [key, plain] :
       {Choice{"act_layer", "gelu"}, Choice{"norm_layer", "layernorm"}, Choice{"global_pool", "token"}}) {
    const Json* value = find(arguments, key);
    if (value != nullptr && *value != plain) {
      unsupported(key, quote_name(text(*value, key)), fmt::format("'{}'", plain),
                  "variants of the vision transformer are not supported; take a plain one");
    }
  }
}

void parse_timm(const Json& object, CheckpointConfig& config) {
  const Json* pretrained = find(object, "pretrained_cfg");
  // Older exports have the same keys at the top.
  if (pretrained == nullptr &&
      has_any_key(object, {"crop_pct", "input_size", "interpolation", "mean", "std"}))
    pretrained = &object;
  if (pretrained != nullptr) {
    config.preprocessing = parse_pretrained_cfg(*pretrained);
    config.preprocessing_file = "config.json";
  }
  config.width = optional_whole(object, "num_features");
  refuse_invisible_choices(object);
  if (const Json* arguments = find(object, "model_args")) {
    if (!arguments->is_object()) wrong_kind("model_args", "an object");
    refuse_invisible_choices(*arguments);
    config.heads = optional_whole(*arguments, "num_heads");
  }
  if (const Json* names = find(object, "label_names"); names != nullptr && names->is_array()) {
    for (const auto& name : *names) config.class_names.push_back(text(name, "label_names"));
  }
}

// --- config.json of Hugging Face ---

// {"0": "tench", "1": "goldfish", …}: every class from 0 on, or it is not used.
std::vector<std::string> parse_class_names(const Json& labels) {
  if (!labels.is_object()) wrong_kind("id2label", "an object");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const Json* name = find(labels, std::to_string(i).c_str());
    if (name == nullptr) wrong_kind("id2label", fmt::format("complete: class {} has no name", i));
    names.push_back(text(*name, "id2label"));
  }
  return names;
}

void parse_hugging_face(const Json& object, CheckpointConfig& config) {
  if (const Json* activation = find(object, "hidden_act"); activation != nullptr && *activation != "gelu") {
    unsupported("hidden_act", quote_name(text(*activation, "hidden_act")), "'gelu' (the exact one)",
                "models with another activation are not supported");
  }
  config.width = optional_whole(object, "hidden_size");
  config.depth = optional_whole(object, "num_hidden_layers");
  config.heads = optional_whole(object, "num_attention_heads");
  config.mlp_width = optional_whole(object, "intermediate_size");
  config.patch_size = optional_whole(object, "patch_size");
  if (const Json* size = find(object, "image_size")) config.image_size = square(*size, "image_size");
  if (const Json* epsilon = find(object, "layer_norm_eps")) {
    const double value = real(*epsilon, "layer_norm_eps");
    if (!(value > 0 && value < 1)) wrong_kind("layer_norm_eps", "a small positive number");
    config.layer_norm_epsilon = static_cast<float>(value);
  }
  if (const Json* labels = find(object, "id2label")) config.class_names = parse_class_names(*labels);
}

// Reads a file if it is there; what goes wrong in it is said to have happened in it.
template <typename Parse>
void with_json(const fs::path& path, const Parse& parse) {
  if (!fs::is_regular_file(path)) return;
  try {
    parse(read_json_file(path));
  } catch (Error& error) {
    error.at(path.string());
    throw;
  }
}

}  // namespace

CheckpointConfig read_checkpoint_config(const fs::path& folder) {
  CheckpointConfig config;
  with_json(folder / "config.json", [&](const Json& object) {
    if (!object.is_object()) wrong_kind("config.json", "an object");
    is_timm(object) ? parse_timm(object, config) : parse_hugging_face(object, config);
  });
  with_json(folder / "preprocessor_config.json", [&](const Json& object) {
    config.preprocessing = parse_preprocessor(object);
    config.preprocessing_file = "preprocessor_config.json";
  });
  return config;
}

std::vector<std::string> preprocessing_styles() {
  return {"torchvision", "swag", "google", "augreg", "deit"};
}

Preprocessing preprocessing_of_style(std::string_view style, std::size_t image_size) {
  const auto larger = static_cast<std::size_t>(static_cast<double>(image_size) * 256 / 224);
  if (style == "torchvision") {
    return {.resize = larger,
            .filter = ResizeFilter::bilinear,
            .crop = image_size,
            .mean = kImageNetMean,
            .std = kImageNetStd};
  }
  if (style == "swag") {
    return {.resize = image_size,
            .filter = ResizeFilter::bicubic,
            .crop = image_size,
            .mean = kImageNetMean,
            .std = kImageNetStd};
  }
  if (style == "google") {
    return {.resize = image_size,
            .stretch = true,
            .filter = ResizeFilter::bilinear,
            .crop = image_size,
            .mean = kHalf,
            .std = kHalf};
  }
  if (style == "augreg") {
    const auto resize = static_cast<std::size_t>(static_cast<double>(image_size) / 0.9);
    return {
        .resize = resize, .filter = ResizeFilter::bicubic, .crop = image_size, .mean = kHalf, .std = kHalf};
  }
  if (style == "deit") {
    return {.resize = larger,
            .filter = ResizeFilter::bicubic,
            .crop = image_size,
            .mean = kImageNetMean,
            .std = kImageNetStd};
  }
  const auto styles = preprocessing_styles();
  const auto near = nearest(style, styles);
  throw Error(
      ErrorCode::invalid_argument, fmt::format("unknown preprocessing '{}'", style),
      near ? fmt::format("did you mean '{}'?", *near) : fmt::format("there are {}", fmt::join(styles, ", ")));
}

Preprocessing resized(Preprocessing how, std::size_t image_size) {
  const double ratio = static_cast<double>(image_size) / static_cast<double>(how.crop);
  how.resize = static_cast<std::size_t>(std::lround(static_cast<double>(how.resize) * ratio));
  how.crop = image_size;
  return how;
}

}  // namespace dfrost
