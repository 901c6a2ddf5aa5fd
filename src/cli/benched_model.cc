#include "cli/benched_model.h"

#include "backbone/random_weights.h"
#include "cli/checkpoint_options.h"

namespace dfrost::cli {

void BenchedModel::add_options(CLI::App& command) {
  command
      .add_option("--model", model,
                  "Geometry with random weights: vit-b32, vit-b16, deit-tiny, convit-base …")
      ->capture_default_str();
  command.add_option("--backbone", checkpoint, "A checkpoint, instead of random weights")
      ->excludes("--model");
  command.add_option("--precision", precision, "auto, fp32 or bf16")->capture_default_str();
}

std::unique_ptr<Backbone> BenchedModel::make() const {
  const BackboneOptions options{parse_precision(precision)};
  if (checkpoint.empty()) return make_backbone(*random_weights(geometry_of_model(model), 1), options);
  return make_backbone(*open_named_checkpoint(checkpoint, how), options);
}

}  // namespace dfrost::cli
