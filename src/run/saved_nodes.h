// From nodes to what a savepoint holds of them, and back.
#pragma once

#include <span>

#include "records/savepoint_file.h"
#include "run/node.h"
#include "train/local_update.h"

namespace dfrost {

SavedNodes save_nodes(std::span<const Node> nodes, OptimizerMemory memory);

// Throws (data_loss) when they are not of nodes such as these, which are then unchanged. A number of prompts
// may be another than it was at the start.
void restore_nodes(const SavedNodes& saved, const TrainOptions& options, std::span<Node> nodes);

}  // namespace dfrost
