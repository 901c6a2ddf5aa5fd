// The two arithmetics a backbone can run in, each compiled in a file of its own.
#pragma once

#include <memory>

#include "dfrost/backbone.h"

namespace dfrost {

std::unique_ptr<Backbone> make_fp32_backbone(const WeightSource& source, bool training, ThreadPool* threads);

}  // namespace dfrost
