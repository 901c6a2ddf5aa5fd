// A method as a driver runs it: the phases of its round, in their order, and what it asks of the network.
// Made from the settings by make_method(); every driver makes the same from the same settings.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "privacy/noise_source.h"
#include "run/phase.h"
#include "run/round_plan.h"
#include "train/head_frame.h"

namespace dfrost {

struct Method {
  std::vector<std::unique_ptr<const Phase>> phases;
  // Once, before the first round, with all nodes present: its moments are those of round 0.
  std::vector<std::unique_ptr<const Phase>> preparation = {};
  // In whose coordinates every client's head is trained from the start, where it comes with the backbone.
  std::optional<FrameParts> frame = {};
  PlanOptions network = {};
  // How many times the largest budget of the settings a prompt set may grow to; 0: without limit.
  std::size_t prompt_growth = 1;
  std::vector<std::string> notes = {};  // for people: what the settings mean for it
};

// `origin`: of the noise that [privacy] asks for. Where it is the system, no two of them do the same.
// `frame`: backbone_frame(), and `metric`: backbone_metric(), without which settings that want them are
// refused.
Method make_method(const RunConfig& config, NoiseOrigin origin = NoiseOrigin::seed,
                   std::optional<FrameParts> frame = std::nullopt,
                   std::shared_ptr<const std::vector<float>> metric = nullptr);

}  // namespace dfrost
