// The paper's results (its tables, and the ablations that state a number), found by a run's resolved
// settings. Only a run of the paper's setting has one: data, partition, network, faults, prompts, rounds,
// method and backbone (ViT-B/32) must all be the paper's. Accuracy in percent, with the domain mask.
#pragma once

#include <optional>
#include <string>

#include "report/settings.h"

namespace dfrost {

struct PaperFigure {
  std::string setting;  // "FiveDataset, Dirichlet 0.1, regular"
  double accuracy = 0;  // percent
};

// `about`: the run's about.json, which says what the backbone and the data really were.
std::optional<PaperFigure> paper_figure(const Settings& settings, const Json& about);

}  // namespace dfrost
