// Named settings: the methods (what method.name stands for) and whole experiments (what `dfrost config init`
// writes). A method sets values of [method], [train], [prompts] and [merge]; keys that a file gives win,
// wherever they stand.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace dfrost {

struct MethodPreset {
  std::string name;
  std::string title;  // as the paper writes it
  std::string summary;
};

// dfrost, d-psgd, dfedavgm, dfedsam, each also with a "+"; local and central.
std::span<const MethodPreset> method_presets();

// Throws (invalid_argument, with the nearest name as a hint) for an unknown name.
void apply_method(RunConfig& config, std::string_view name);

struct ExperimentPreset {
  std::string name;
  std::string summary;
  RunConfig config;
};

// five, four: the paper's settings; demo: three small domains; mine: a folder of the user's own.
std::span<const ExperimentPreset> experiment_presets();
const ExperimentPreset& experiment_preset(std::string_view name);

// The experiment by another method: what the experiment sets itself, such as a learning rate that suits its
// pictures, stays. The paper's experiments set nothing of training, so that a method brings the paper's.
RunConfig with_method(const ExperimentPreset& experiment, std::string_view method);

}  // namespace dfrost
