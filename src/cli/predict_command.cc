// `dfrost predict`: names what is on pictures, with prompts and a head that were trained.
#include <fmt/format.h>

#include <memory>

#include "adapter/adapter_use.h"
#include "base/thread_pool.h"
#include "cli/adapter_argument.h"
#include "cli/command.h"
#include "cli/picture_arguments.h"
#include "data/image_file.h"
#include "dfrost/error.h"

namespace dfrost::cli {
namespace {

struct PredictArguments {
  std::string adapter, backbone, domain, precision = "auto", exif = "apply";
  std::vector<std::string> pictures;
  std::size_t top = 3;
  bool json = false;
};

nlohmann::ordered_json to_json(const std::string& path, const AdapterCard& card,
                               std::span<const float> logits, std::span<const Prediction> predictions) {
  nlohmann::ordered_json picture = {{"image", path}, {"classes", nlohmann::ordered_json::array()}};
  for (const auto& prediction : predictions) {
    const auto [domain, name] = class_name(card, prediction.class_index);
    picture["classes"].push_back({{"index", prediction.class_index},
                                  {"domain", domain},
                                  {"name", name},
                                  {"probability", prediction.probability},
                                  {"logit", logits[prediction.class_index]}});
  }
  return picture;
}

void print_picture(const std::string& path, const AdapterCard& card,
                   std::span<const Prediction> predictions) {
  fmt::print("{}\n", path);
  for (const auto& prediction : predictions) {
    const auto [domain, name] = class_name(card, prediction.class_index);
    fmt::print("  {:5.1f} %  {}  ({})\n", 100 * prediction.probability, name, domain);
  }
}

void predict(const PredictArguments& arguments) {
  if (arguments.top == 0) throw Error(ErrorCode::invalid_argument, "--top must be at least 1");
  const auto precision = parse_precision(arguments.precision);
  const auto exif = parse_exif(arguments.exif);
  const auto found = find_adapters(arguments.adapter);
  const StoredAdapter adapter = read_adapter_of(found.file);
  const ClassRange range = arguments.domain.empty() ? ClassRange{0, adapter.card.adapter.head.classes}
                                                    : find_domain(adapter.card, arguments.domain).range();
  const auto checkpoint = open_backbone_of(found, adapter.card, arguments.backbone);
  const auto backbone = make_backbone(
      *checkpoint, {.precision = precision == Precision::automatic ? adapter.card.precision : precision,
                    .training = false});
  ThreadPool threads;
  Workspace workspace(*backbone);
  nlohmann::ordered_json pictures = nlohmann::ordered_json::array();
  const auto unreadable = look_at_pictures(arguments.pictures, pictures, [&](const std::string& path) {
    const auto logits = logits_of(adapter, read_image(path, exif).view(), workspace, &threads);
    const auto predictions = best_predictions(logits, range, arguments.top);
    if (arguments.json) {
      pictures.push_back(to_json(path, adapter.card, logits, predictions));
    } else {
      print_picture(path, adapter.card, predictions);
    }
  });
  if (arguments.json) print_json({{"adapter", found.file.string()}, {"pictures", pictures}});
  require_all_read(unreadable, arguments.pictures.size());
}

}  // namespace

void add_predict_command(CLI::App& app) {
  auto* command = add_command(
      app, "predict", "Name what is on pictures, with prompts and a head that a run has trained.",
      {"dfrost predict --adapter runs/demo cat.jpg dog.png",
       "dfrost predict --adapter network.safetensors --backbone deit-tiny --domain cifar10 cat.jpg"});
  auto arguments = std::make_shared<PredictArguments>();
  command
      ->add_option("--adapter", arguments->adapter,
                   "The folder of a run (its network model), or an adapter file")
      ->required();
  command->add_option("--backbone", arguments->backbone,
                      "The checkpoint: a file, a folder, or a name; else that of the run");
  command->add_option("--domain", arguments->domain, "Choose among the classes of this domain alone");
  command->add_option("--top", arguments->top, "How many classes to show")->capture_default_str();
  command->add_option("--precision", arguments->precision, "auto (as trained), fp32 or bf16")
      ->capture_default_str();
  add_exif_option(*command, arguments->exif);
  add_json_flag(*command, arguments->json);
  command->add_option("pictures", arguments->pictures, "PNG, JPEG, WebP or GIF files")->required();
  command->callback([arguments] { predict(*arguments); });
}

}  // namespace dfrost::cli
