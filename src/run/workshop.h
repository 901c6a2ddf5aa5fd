// The nodes that live in this process, with all they work with: their pictures, threads, and an exchange
// each. All nodes of a simulation share one; a rank of a cluster has one for some of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "network/exchange.h"
#include "records/record.h"
#include "run/corpus_samples.h"
#include "run/groundwork.h"
#include "run/node.h"
#include "run/round.h"
#include "train/evaluate.h"

namespace dfrost {

// What these nodes, or all, did and sent.
struct WorkDone {
  RoundOutcome outcome;  // reports in the order of the nodes
  std::uint64_t sent_bytes = 0;
  std::uint64_t sent_messages = 0;
};

// A model to be scored, by its place; asked for from several threads at once.
using ModelAt = std::function<Node(std::size_t place)>;

class Workshop {
 public:
  struct Options {
    std::function<Exchange&(ClientId)> exchange_of;
    // Where letters go to other processes: as Residents has it.
    std::function<void(Moment)> carry = {};
    std::size_t threads = 0;  // 0: all that this process may use
    // Of the memory that the settings give to patch embeddings.
    double cache_share = 1;
  };
  // Both references must outlive it.
  Workshop(const Groundwork& ground, std::vector<Node>& residents, Options options);

  WorkDone run_round(const RoundPlan& plan, const RoundProgressCallback& progress);
  // What the method does before its first round.
  WorkDone prepare(const RoundProgressCallback& progress);

  // Each model on the test pictures that are scored; any process can, whoever's it is.
  std::vector<Evaluation> evaluate(std::size_t models, const ModelAt& model_at,
                                   const RoundProgressCallback& progress);

  // Who of some pictures was trained on, by what `chosen` of all clients sent; any process can.
  MembershipRecord attack_members(std::span<const Node> clients, std::span<const std::size_t> chosen);

  // Of the test pictures that are scored, how many the models of `chosen` clients take for the target once
  // they are marked; nothing where no picture is of another class.
  std::optional<double> backdoor_success(std::span<const Node> clients, std::span<const std::size_t> chosen);

  ThreadPool& threads() { return threads_; }

 private:
  template <typename Run>
  WorkDone count_sent(const Run& run);

  const Groundwork& ground_;
  std::vector<Node>& residents_;
  Options options_;
  CorpusSamples train_samples_;
  CorpusSamples test_samples_;
  std::vector<SampleSubset> samples_;  // of each client
  std::vector<Equipment> equipment_;   // of each node
  LetterPool letters_;
  ThreadPool threads_;
  std::vector<Workspace> workspaces_;  // one per thread
};

}  // namespace dfrost
