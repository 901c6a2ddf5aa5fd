// Whole experiments by name: what `dfrost config init` writes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace dfrost {

struct ExperimentPreset {
  std::string name;
  std::string summary;
  RunConfig config;
};

// five, four: the paper's settings; demo: three small domains; pfpt, pfpt-explosion: PFPT's setting and the
// paper's figure of it; mine: a folder of the user's own.
std::span<const ExperimentPreset> experiment_presets();
const ExperimentPreset& experiment_preset(std::string_view name);

// The experiment by another method: what the experiment sets itself, such as a learning rate that suits its
// pictures, stays. The paper's experiments set nothing of training, so that a method brings the paper's.
RunConfig with_method(const ExperimentPreset& experiment, std::string_view method);

}  // namespace dfrost
