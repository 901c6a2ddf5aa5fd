// `dfrost classify`: the top classes of pictures by the checkpoint's own head.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <sstream>

#include "backbone/checkpoint.h"
#include "base/file.h"
#include "base/thread_pool.h"
#include "cli/checkpoint_options.h"
#include "cli/command.h"
#include "cli/picture_arguments.h"
#include "data/image_file.h"
#include "data/preprocess.h"
#include "dfrost/backbone.h"
#include "dfrost/error.h"

namespace dfrost::cli {
namespace {

struct ClassifyArguments {
  std::string checkpoint, labels;
  CheckpointOptions options;
  std::vector<std::string> pictures;
  std::size_t top = 5;
  std::string precision = "auto", exif = "apply";
  bool json = false;
};

struct Guess {
  std::size_t index;
  double probability;
  float logit;
};

// One name a line.
std::vector<std::string> read_labels(const std::string& path, std::size_t classes) {
  std::vector<std::string> names;
  std::istringstream text(read_text_file(path));
  for (std::string line; std::getline(text, line);) names.push_back(line);
  if (names.size() != classes) {
    throw Error(
        ErrorCode::data_loss,
        fmt::format("{} names in the labels file, but the checkpoint has {} classes", names.size(), classes),
        "one name a line, in the order of the classes")
        .at(path);
  }
  return names;
}

std::vector<Guess> best_guesses(std::span<const float> logits, std::size_t top) {
  const float largest = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit - largest));
  std::vector<std::size_t> order(logits.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(std::min(top, order.size()));
  std::partial_sort(order.begin(), middle, order.end(), [&](std::size_t a, std::size_t b) {
    return logits[a] > logits[b] || (logits[a] == logits[b] && a < b);
  });
  std::vector<Guess> guesses;
  for (auto i = order.begin(); i != middle; ++i) {
    guesses.push_back({*i, std::exp(static_cast<double>(logits[*i] - largest)) / sum, logits[*i]});
  }
  return guesses;
}

// One picture at a time: a thousand pictures take no more memory than one.
std::vector<Guess> classify_picture(const Backbone& backbone, const Preprocessing& how, const Image& picture,
                                    std::size_t top, ThreadPool& threads) {
  const Geometry& g = backbone.geometry();
  std::vector<float> pixels(g.patches() * g.patch_values()), patches(g.patches() * g.width);
  std::vector<float> features(g.special_tokens * g.width), logits(g.classes);
  preprocess_to_patches(picture.view(), how, g.patch_size, pixels);
  backbone.embed({pixels.data(), g.patches(), g.patch_values()}, {patches.data(), g.patches(), g.width},
                 &threads);
  backbone.forward({1, 0, {patches.data(), g.patches(), g.width}, {}},
                   {features.data(), g.special_tokens, g.width}, nullptr, &threads);
  backbone.classify({features.data(), g.special_tokens, g.width}, {logits.data(), 1, g.classes});
  return best_guesses(logits, top);
}

nlohmann::ordered_json to_json(const std::string& path, const std::vector<Guess>& guesses,
                               const std::vector<std::string>& names) {
  nlohmann::ordered_json picture = {{"image", path}, {"classes", nlohmann::ordered_json::array()}};
  for (const auto& guess : guesses) {
    nlohmann::ordered_json entry = {{"index", guess.index}};
    if (!names.empty()) entry["name"] = names[guess.index];
    entry["probability"] = guess.probability;
    entry["logit"] = guess.logit;
    picture["classes"].push_back(entry);
  }
  return picture;
}

void print_guesses(const std::string& path, const std::vector<Guess>& guesses,
                   const std::vector<std::string>& names) {
  fmt::print("{}\n", path);
  for (const auto& guess : guesses) {
    fmt::print("  {:5.1f} %  {:>4}  {}\n", 100 * guess.probability, guess.index,
               names.empty() ? "" : names[guess.index]);
  }
}

void classify(const ClassifyArguments& arguments) {
  const auto precision = parse_precision(arguments.precision);
  const auto exif = parse_exif(arguments.exif);
  if (arguments.top == 0) throw Error(ErrorCode::invalid_argument, "--top must be at least 1");
  const auto checkpoint = open_named_checkpoint(arguments.checkpoint, arguments.options);
  tell_doubt_about_pictures(*checkpoint);
  const std::size_t classes = checkpoint->geometry().classes;
  if (classes == 0) {
    throw Error(ErrorCode::data_loss, "the checkpoint has no classifier to read classes from",
                "take a fine-tuned checkpoint, or train a head with prompts")
        .at(arguments.checkpoint);
  }
  const auto names =
      arguments.labels.empty() ? checkpoint->class_names() : read_labels(arguments.labels, classes);
  const auto backbone = make_backbone(*checkpoint, {.precision = precision, .training = false});
  ThreadPool threads;
  nlohmann::ordered_json pictures = nlohmann::ordered_json::array();
  const auto unreadable = look_at_pictures(arguments.pictures, pictures, [&](const std::string& path) {
    const auto guesses = classify_picture(*backbone, checkpoint->preprocessing(), read_image(path, exif),
                                          arguments.top, threads);
    if (arguments.json) {
      pictures.push_back(to_json(path, guesses, names));
    } else {
      print_guesses(path, guesses, names);
    }
  });
  if (arguments.json) {
    print_json({{"precision", to_string(backbone->precision())}, {"pictures", pictures}});
  }
  require_all_read(unreadable, arguments.pictures.size());
}

}  // namespace

void add_classify_command(CLI::App& app) {
  auto* command =
      add_command(app, "classify", "Name what is on pictures, with the checkpoint's own classifier.",
                  {"dfrost classify --backbone deit_tiny.safetensors cat.jpg dog.png",
                   "dfrost classify --backbone model/ --labels imagenet.txt --top 3 cat.jpg"});
  auto arguments = std::make_shared<ClassifyArguments>();
  command->add_option("--backbone", arguments->checkpoint, "The checkpoint: a file, a folder, or a name")
      ->required();
  command->add_option("--labels", arguments->labels,
                      "Class names, one a line; else the checkpoint's own, if any");
  command->add_option("--top", arguments->top, "How many classes to show")->capture_default_str();
  command->add_option("--precision", arguments->precision, "auto, fp32 or bf16")->capture_default_str();
  add_checkpoint_options(*command, arguments->options);
  add_exif_option(*command, arguments->exif);
  add_json_flag(*command, arguments->json);
  command->add_option("pictures", arguments->pictures, "PNG, JPEG, WebP or GIF files")->required();
  command->callback([arguments] { classify(*arguments); });
}

}  // namespace dfrost::cli
