// Separate keys of a pool follow their prompts. A prompt is chosen by its key, so wherever transport moves
// prompts their keys go the same way: merged key i is the mean of the keys of those prompts that merged
// prompt i comes from, by the mass of the plan. Sums run in double in the order of the senders.
#pragma once

#include <span>

#include "dfrost/matrix_view.h"
#include "dfrost/merge.h"
#include "dfrost/wasserstein.h"

namespace dfrost {

// `senders`: the keys of everybody whose prompts were merged, in the merge's order; `merged` holds the
// client's own, which a dead prompt keeps.
void merge_keys(std::span<const MatrixView<const float>> senders, const MergeSummary& summary,
                MatrixView<float> merged);

// `senders`: the keys of all clients; `transports`: from each client's prompts to the barycenter's, [merged].
void average_keys(std::span<const MatrixView<const float>> senders, std::span<const Transport> transports,
                  MatrixView<float> merged);

}  // namespace dfrost
