// What a run needs before its first round, opened as its settings say and with every doubt told.
#pragma once

#include <memory>

#include "backbone/checkpoint.h"
#include "config/config.h"
#include "data/corpus.h"
#include "run/run_notes.h"

namespace dfrost {

std::unique_ptr<Checkpoint> open_backbone(const BackboneSection& backbone, RunNotes& notes);

// The experiment's own data sets. Throws where there is nothing to tell apart or to score on.
Corpus open_pictures(const RunConfig& config, RunNotes& notes);

}  // namespace dfrost
