// The model that a benchmark times: random weights of a geometry, or a checkpoint.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "backbone/checkpoint.h"
#include "dfrost/backbone.h"

namespace dfrost::cli {

struct BenchedModel {
  std::string model = "vit-b32";
  std::string checkpoint;  // instead of a model with random weights
  std::string precision = "auto";
  CheckpointOptions how;  // the checkpoint is opened

  // Declares --model, --backbone and --precision.
  void add_options(CLI::App& command);
  const std::string& name() const { return checkpoint.empty() ? model : checkpoint; }
  std::unique_ptr<Backbone> make() const;
};

}  // namespace dfrost::cli
