// How well a client's prompts and head classify samples: counted with and without the domain mask, domain by
// domain. No tape, nothing dropped out. Does not depend on the number of threads.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "train/client_state.h"
#include "train/loss.h"
#include "train/sample_source.h"
#include "train/training_step.h"

namespace dfrost {

struct Score {
  std::size_t samples = 0;
  std::size_t correct_masked = 0;
  std::size_t correct_unmasked = 0;
  double loss_sum = 0;  // cross-entropy under the mask that training uses

  // Shares of the samples; 0 where there are none.
  double accuracy_masked() const { return share(static_cast<double>(correct_masked)); }
  double accuracy_unmasked() const { return share(static_cast<double>(correct_unmasked)); }
  double loss() const { return share(loss_sum); }

 private:
  double share(double sum) const { return samples == 0 ? 0 : sum / static_cast<double>(samples); }
};

struct Evaluation {
  std::vector<Score> domains;  // by the source's domains

  Score total() const;
};

struct EvaluateOptions {
  ClassMask mask = ClassMask::domain;  // of the loss
  // Images per pass. Where a batch votes for its prompts, it is also who votes.
  std::size_t batch = 32;
};

Evaluation evaluate(const AdapterOptions& adapter, const ClientState& state, const SampleSource& source,
                    std::span<const std::size_t> samples, const EvaluateOptions& options,
                    Workspace& workspace, ThreadPool* threads = nullptr);

// The loss of each sample, in their order.
std::vector<double> sample_losses(const AdapterOptions& adapter, const ClientState& state,
                                  const SampleSource& source, std::span<const std::size_t> samples,
                                  const EvaluateOptions& options, Workspace& workspace);

}  // namespace dfrost
