// What a node believes of its inbox ([defence]): senders that are outliers are left out of everything; of
// what is averaged by index (heads, and prompts where they are), those furthest from the node's own may be
// left out, and the rest moved towards it. Prompts that are merged by transport are moved in state_merge.cc,
// their mass trimmed and softened by the merge. Everything off: the inbox as it is.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "config/config.h"
#include "merge/robust_mean.h"
#include "run/inbox.h"
#include "run/node.h"
#include "run/node_report.h"

namespace dfrost {

class Defended {
 public:
  // The inbox must outlive this. Whom it doubts is added to the report.
  Defended(const Node& node, const Inbox& inbox, const MergeSection& options, DefenceOutcome& report);

  const Inbox& believed() const { return believed_ ? *believed_ : inbox_; }
  // For what is averaged by index.
  const Inbox& averaged() const { return averaged_ ? *averaged_ : believed(); }

 private:
  const Inbox& inbox_;
  std::optional<Inbox> believed_;  // where it is not all that came
  std::optional<Inbox> averaged_;
};

// The parts of a state that are averaged by index: heads, and prompts where the merge averages them too. Rows
// of classes are not among them where they are merged by their mass.
std::vector<const StateLayout::Part*> averaged_parts(const Node& node, const MergeSection& options);

RobustMeanOptions mean_options(const DefenceOptions& defence);

// These parts of `values`, a node's own, become the robust mean of them and those of the inbox. False where
// that is the plain one: then they stay as they are.
bool average_parts(std::span<const StateLayout::Part* const> parts, const Inbox& inbox,
                   const RobustMeanOptions& mean, std::span<float> values);

}  // namespace dfrost
