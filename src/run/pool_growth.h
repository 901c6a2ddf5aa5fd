// Pools of prompts that change their size from round to round (merge.pool): what of a pool travels, and what
// becomes of those that came. Around a server and between peers alike.
#pragma once

#include <span>
#include <vector>

#include "config/config.h"
#include "run/node.h"
#include "run/node_report.h"
#include "run/phase.h"

namespace dfrost {

// Around a client's training: leaves in its draft the prompts that travel. With pfpt those that any of its
// pictures chose (all, where it has no pictures), with pass-on all.
class PromptsInUse {
 public:
  explicit PromptsInUse(Workspace& workspace);
  void note(Node& node, PoolMerge kind) const;

 private:
  Workspace& workspace_;
};

// What note() left.
MatrixView<const float> prompts_to_send(const Node& node);

// Of `senders`, the client's own first where it has any, by options.pool.kind. Throws (resource_exhausted)
// where a pool passes its limit and is not to be cut.
MergeOutcome grow_pool(Node& node, std::span<const MatrixView<const float>> senders,
                       const PoolMergeOptions& options, std::uint64_t seed);

}  // namespace dfrost
