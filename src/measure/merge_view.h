// One merge as people look at it: the prompts of the neighbourhood and the merged ones in the principal plane
// of what came in, and the transport plan between them. Made from the merge's own plan, beside the result.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "dfrost/matrix_view.h"
#include "dfrost/merge.h"
#include "measure/principal_plane.h"
#include "network/graph.h"

namespace dfrost {

struct MergeView {
  std::size_t round = 0;
  MergeKind kind = MergeKind::ot;
  std::array<double, 2> variance = {0, 0};  // of the prompts that came in, the share along each axis

  struct Sender {
    ClientId client = 0;
    std::vector<PlanePoint> points;  // its prompts
  };
  std::vector<Sender> senders;  // the client that merged first, then whom it heard
  std::vector<PlanePoint> merged;
  std::vector<std::size_t> dead;  // merged prompts without mass

  struct Flow {
    std::size_t sender = 0;  // a place in `senders`
    std::size_t prompt = 0;
    std::size_t merged_prompt = 0;
    double share = 0;  // of the prompt's own mass, 0 to 1
  };
  std::vector<Flow> plan;  // without flows below kLeastFlow

  ClientId client() const { return senders.front().client; }
};

inline constexpr double kLeastFlow = 0.01;

// `clients[s]` sent `senders[s]`; `summary` is what merge() said about them.
MergeView view_merge(std::span<const ClientId> clients, std::span<const MatrixView<const float>> senders,
                     MatrixView<const float> merged, const MergeSummary& summary);

}  // namespace dfrost
