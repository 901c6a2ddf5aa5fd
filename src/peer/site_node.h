// One node of a federation, and what it works with: its pictures, memory to compute in, threads. The same
// node that a simulation holds under that number, driven round by round through run/round.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/thread_pool.h"
#include "config/config.h"
#include "dfrost/backbone.h"
#include "peer/arrivals.h"
#include "peer/pictures.h"
#include "records/about.h"
#include "records/record.h"
#include "records/savepoint_file.h"
#include "run/corpus_samples.h"
#include "run/method.h"
#include "run/round.h"

namespace dfrost {

// Counts the pictures that are looked at, so that others see that work goes on; the callback may throw to end
// it.
class CountedSamples final : public SampleSource {
 public:
  CountedSamples(const SampleSource& all, std::function<void()> on_picture)
      : all_(all), on_picture_(std::move(on_picture)) {}

  std::size_t size() const override { return all_.size(); }
  std::size_t label(std::size_t sample) const override { return all_.label(sample); }
  std::size_t domain(std::size_t sample) const override { return all_.domain(sample); }
  std::span<const ClassRange> domains() const override { return all_.domains(); }
  void write_patches(std::size_t sample, std::span<float> patches) const override {
    on_picture_();
    all_.write_patches(sample, patches);
  }
  void write_query(std::size_t sample, std::span<float> query) const override {
    all_.write_query(sample, query);
  }

 private:
  const SampleSource& all_;
  std::function<void()> on_picture_;
};

class SiteNode {
 public:
  // All references outlive it.
  SiteNode(const RunConfig& config, const Method& method, const Backbone& backbone,
           const Preprocessing& preprocessing, const SitePictures& pictures, ClientId self,
           const std::function<void()>& on_picture);

  struct Outcome {
    RoundRecord record;
    RoundArrivals arrivals;
    bool merged = false;
  };
  // One round over an exchange; an exception leaves it unusable. Scores are not in it yet.
  Outcome run_round(const RoundPlan& plan, const RunId& run, Exchange& exchange,
                    const RoundProgressCallback& progress);
  // The next phase of what the method does before its first round, likewise. Its costs count as a part of the
  // first round that follows in this process.
  RoundArrivals prepare(const RoundPlan& plan, const RunId& run, Exchange& exchange,
                        const RoundProgressCallback& progress);
  std::size_t phases_prepared() const { return prepared_; }
  // On the site's test pictures; nothing where it has none.
  std::optional<EvaluationRecord> evaluate();

  // Takes over the state in the letter of the lowest-numbered neighbour that sends one in this round; nothing
  // where none does. A number of prompts of its own stays.
  std::optional<ClientId> adopt(const RoundPlan& plan, const RunId& run, Exchange& exchange);

  // A round whose letters had begun to leave is done again with other noise: it is told twice.
  void charge_repeated_round();

  const Node& node() const { return node_; }
  Participants participants() const;
  std::size_t threads() const { return threads_.size(); }
  SavedNodes state() const;
  void restore(const SavedNodes& state);

 private:
  RunConfig config_;
  const Method& method_;
  const SitePictures& pictures_;
  Node node_;
  CorpusSamples train_pool_, test_pool_;
  SampleSubset share_;
  CountedSamples train_, test_;
  ThreadPool threads_;
  std::vector<Workspace> workspaces_;
  std::size_t prepared_ = 0;  // phases of the preparation that are done
  RoundRecord costs_;         // of those
};

// The neighbour's state in its letter becomes the node's own, as far as their numbers of prompts allow.
void take_over(const Message& letter, Node& node);

}  // namespace dfrost
